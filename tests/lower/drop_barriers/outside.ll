; Of buffers nothing is known but whether they are one: what was written before a barrier may be read behind it.
; RUN: opsight-opt -p drop_barriers --lanes=16 --block=64 %s | FileCheck-22 %s
; CHECK: store float 1.0
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !opsight.idle
; CHECK-NEXT: load float, ptr %other
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0){{$}}
; CHECK-NEXT: load float, ptr %out
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0){{$}}
; CHECK-NEXT: atomicrmw
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %out, ptr noalias %other, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 range(i32 0, 4) %opsight.warp) {
  store float 1.0, ptr %out
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %a = load float, ptr %other
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %b = load float, ptr %out
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %c = atomicrmw add ptr %other, i32 1 monotonic
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
