; A vector that holds two rows of four threads reads and writes two runs of memory, wherever the rows begin, unless the
; index of one wraps.
; RUN: opsight-opt -p vectorise --lanes=8 --block=4,4 %s | FileCheck-22 %s
; CHECK: %[[FIRST:.*]] = mul i32 %{{.*}}, %n
; CHECK: icmp sle i32 %{{.*}}, 2147483644
; CHECK: %[[SECOND:.*]] = mul i32 %{{.*}}, %n
; CHECK: icmp sle i32 %{{.*}}, 2147483644
; CHECK: %[[BOTH:.*]] = and i1
; CHECK: br i1 %[[BOTH]], label %as.hoped, label %wraps
; CHECK: as.hoped:
; CHECK-NEXT: %[[A:.*]] = load <4 x float>, ptr %{{.*}}, align 4
; CHECK-NEXT: %[[B:.*]] = load <4 x float>, ptr %{{.*}}, align 4
; CHECK-NEXT: shufflevector <4 x float> %[[A]], <4 x float> %[[B]], <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
; CHECK: wraps:
; CHECK-NEXT: call <8 x float> @llvm.masked.gather
; CHECK: shufflevector <8 x float> %{{.*}}, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
; CHECK-NEXT: store <4 x float>
; CHECK-NEXT: shufflevector <8 x float> %{{.*}}, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
; CHECK-NEXT: store <4 x float>
; CHECK: call void @llvm.masked.scatter
; Rows whose columns are twice as far apart are none.
; CHECK-NOT: load <4 x float>
; CHECK: call <8 x float> @llvm.masked.gather
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, ptr %out, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 range(i32 0, 2) %opsight.warp) {
  %lane = call range(i32 0, 8) i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %own = lshr i32 %lane, 2
  %rows = shl i32 %opsight.warp, 1
  %row = or disjoint i32 %rows, %own
  %column = and i32 %lane, 3
  %begin = mul i32 %row, %n
  %index = add i32 %begin, %column
  %far = sext i32 %index to i64
  %from = getelementptr float, ptr %x, i64 %far
  %to = getelementptr float, ptr %out, i64 %far
  %value = load float, ptr %from, align 4
  store float %value, ptr %to, align 4
  %twice = shl i32 %column, 1
  %index2 = add i32 %begin, %twice
  %far2 = sext i32 %index2 to i64
  %from2 = getelementptr float, ptr %x, i64 %far2
  %value2 = load float, ptr %from2, align 4
  store volatile float %value2, ptr %to, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
