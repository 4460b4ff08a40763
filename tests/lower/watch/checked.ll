; Under checks each access names its address and where its object starts, shared arrays are told only where some access is
; known by address alone, and nothing is said of basic blocks, fences and constant places in local arrays.
; RUN: opsight-opt -p watch --checked --block=64 %s | FileCheck-22 %s
; CHECK: define ptx_kernel void @kernel(ptr %x, i32 %n, ptr %opsight.shadow)
; CHECK-NOT: opsight.watch.array
; CHECK: call void @opsight.watch.enter(i32 0)
; CHECK-NOT: opsight.watch.block
; CHECK: call void @opsight.watch.check(i32 0, ptr %at, ptr %x)
; CHECK-NEXT: %v = load i32, ptr %at
; CHECK: call void @opsight.watch.check(i32 1, ptr %{{.*}}, ptr addrspacecast (ptr addrspace(3) @tile to ptr))
; CHECK-NEXT: store i32 %v, ptr addrspace(3)
; CHECK-NOT: opsight.watch
; CHECK: store i32 1, ptr %known
; CHECK: call void @opsight.watch.check_local(i32 3, i64 %{{.*}})
; CHECK-NEXT: %w = load i32
; CHECK-NEXT: fence
; CHECK-NEXT: call void @opsight.watch.point(i32 4, i32 1, i32 0)
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [8 x i32] undef
define ptx_kernel void @kernel(ptr %x, i32 %n) {
  %local = alloca [4 x i32]
  %at = getelementptr i32, ptr %x, i32 %n
  %v = load i32, ptr %at
  %place = getelementptr [8 x i32], ptr addrspace(3) @tile, i32 0, i32 %n
  store i32 %v, ptr addrspace(3) %place
  %known = getelementptr [4 x i32], ptr %local, i32 0, i32 3
  store i32 1, ptr %known
  %unknown = getelementptr [4 x i32], ptr %local, i32 0, i32 %n
  %w = load i32, ptr %unknown
  fence seq_cst
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
