; Where a thread stands follows from the number of its vector and its lane: a row of 12 threads starts anywhere in a vector
; of 16, and lanes are counted in warps of 32.
; RUN: opsight-opt -p thread_indices --block=12,4,2 --lanes=16 %s | FileCheck-22 %s
; CHECK: define ptx_kernel void @kernel(ptr %out, i32 %opsight.block.x, {{.*}} ptr %opsight.static, i32 range(i32 0, 6) %opsight.warp)
; CHECK: [[LANE:%.*]] = call range(i32 0, 16) i32 @llvm.nvvm.read.ptx.sreg.laneid()
; CHECK: [[FIRST:%.*]] = mul nuw nsw i32 %opsight.warp, 16
; CHECK-NEXT: [[THREAD:%.*]] = add nuw nsw i32 [[FIRST]], [[LANE]]
; CHECK-NEXT: [[OFWARP:%.*]] = urem i32 [[THREAD]], 32
; CHECK: [[ROW:%.*]] = udiv i32 [[ALL:%.*]], 12
; CHECK-NEXT: [[X:%.*]] = urem i32 [[ALL]], 12
; CHECK-NEXT: [[Y:%.*]] = urem i32 [[ROW]], 4
; CHECK-NEXT: [[LAYER:%.*]] = udiv i32 [[ROW]], 4
; CHECK-NEXT: [[Z:%.*]] = add nuw nsw i32 0, [[LAYER]]
; CHECK-NEXT: store volatile i32 [[X]]
; CHECK-NEXT: store volatile i32 [[Y]]
; CHECK-NEXT: store volatile i32 [[Z]]
; CHECK-NEXT: store volatile i32 4,
; CHECK-NEXT: store volatile i32 %opsight.block.z
; CHECK-NEXT: store volatile i32 %opsight.grid.x
; CHECK-NEXT: store volatile i32 [[OFWARP]]
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %out) {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store volatile i32 %x, ptr %out
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  store volatile i32 %y, ptr %out
  %z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  store volatile i32 %z, ptr %out
  %extent = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  store volatile i32 %extent, ptr %out
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  store volatile i32 %block, ptr %out
  %grid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  store volatile i32 %grid, ptr %out
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  store volatile i32 %lane, ptr %out
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
