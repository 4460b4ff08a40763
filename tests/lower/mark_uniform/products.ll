; In a block of two threads the lane's higher bits are common, and so is what they are multiplied by a constant.
; RUN: opsight-opt -p mark_uniform --lanes=2 --block=2 %s | FileCheck-22 %s
; CHECK: %high = lshr i32 %lane, 1, !opsight.uniform
; CHECK-NEXT: %product = mul i32 %high, 3, !opsight.uniform
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %high = lshr i32 %lane, 1
  %product = mul i32 %high, 3
  store i32 %product, ptr %x
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
