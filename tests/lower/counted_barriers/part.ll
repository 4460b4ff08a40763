; A barrier of some of the block's threads has no counterpart.
; RUN: not opsight-opt -p counted_barriers --block 128 %s 2>&1 | FileCheck-22 %s
; CHECK: a barrier of part of a block's threads
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 0, i32 96)
  ret void
}
