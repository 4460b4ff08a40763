; What was proved common to the warp stays a scalar, though it is made of what differs: some thread's operand gives it.
; RUN: opsight-opt -p vectorise --lanes=8 --block=16 %s | FileCheck-22 %s
; CHECK: [[LANES:%.*]] = load <8 x i32>, ptr {{%.*}}
; CHECK: [[ONE:%.*]] = extractelement <8 x i32> [[LANES]], i64 0
; CHECK: %same = lshr i32 [[ONE]], 8
; CHECK: store i32 %same, ptr %x
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %place = getelementptr i32, ptr %x, i32 %lane
  %own = load i32, ptr %place
  %same = lshr i32 %own, 8, !opsight.uniform !0
  store i32 %same, ptr %x
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
!0 = !{}
