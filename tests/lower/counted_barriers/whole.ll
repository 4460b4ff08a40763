; A barrier that counts as many threads as the block has, as a number or by blockDim, is the block's own.
; RUN: opsight-opt -p counted_barriers --block 32,3 %s | FileCheck-22 %s
; CHECK: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NOT: call {{.*}}sync.aligned.count
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 0, i32 96)
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %height = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %all = mul i32 %width, %height
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 0, i32 %all)
  ret void
}
