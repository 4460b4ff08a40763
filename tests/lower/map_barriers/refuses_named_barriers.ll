; RUN: not opsight-opt -p map_barriers %s 2>&1 | FileCheck-22 %s
; CHECK: a named barrier
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k() {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 1)
  ret void
}
