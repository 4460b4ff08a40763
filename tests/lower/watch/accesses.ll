; Each access, barrier and basic block says so before it happens; only a kernel that is watched does.
; RUN: opsight-opt -p watch --watched --block=64 %s | FileCheck-22 %s
; RUN: opsight-opt -p watch --block=64 %s | FileCheck-22 %s --check-prefix=PLAIN
; PLAIN-NOT: opsight.watch
; CHECK: define ptx_kernel void @kernel(ptr %x, i32 %n, ptr %opsight.watch)
; CHECK: call void @opsight.watch.array(i32 0, i64 ptrtoint (ptr addrspacecast (ptr addrspace(3) @tile to ptr) to i64))
; CHECK: call void @opsight.watch.block(i32 0)
; CHECK: [[LOADED:%.*]] = ptrtoint ptr %x to i64
; CHECK-NEXT: call void @opsight.watch.access(i32 [[#]], i64 [[LOADED]])
; CHECK-NEXT: %v = load i32, ptr %x
; CHECK: call void @opsight.watch.store(i32 [[#]], i64 %{{.*}}, i32 %v)
; CHECK-NEXT: store i32 %v
; CHECK-NEXT: call void @opsight.watch.point(i32 [[#]], i32 1, i32 0)
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT: call void @opsight.watch.point(i32 [[#]], i32 2, i32 255)
; CHECK-NEXT: call void @llvm.nvvm.bar.warp.sync(i32 255)
; CHECK: call void @opsight.watch.access(
; CHECK-NEXT: atomicrmw add
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [8 x i32] undef
define ptx_kernel void @kernel(ptr %x, i32 %n) {
  %v = load i32, ptr %x
  %place = getelementptr [8 x i32], ptr addrspace(3) @tile, i32 0, i32 %n
  store i32 %v, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.bar.warp.sync(i32 255)
  %old = atomicrmw add ptr %x, i32 1 monotonic
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
