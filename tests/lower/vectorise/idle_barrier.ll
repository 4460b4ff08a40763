; A barrier that drop_barriers has marked is left out.
; RUN: opsight-opt -p mark_returns -p vectorise --lanes=16 --block=64 %s | FileCheck-22 %s
; CHECK: define ptx_kernel void @kernel
; CHECK: call i32 @opsight.barrier(i32 1, i32 0, i32 0)
; CHECK-NOT: call {{.*}}barrier
; CHECK: ret void
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %out, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 range(i32 0, 4) %opsight.warp) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !opsight.idle !0
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
!0 = !{}
