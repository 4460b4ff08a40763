; Nothing is saved where a part is asked for in every round.
; RUN: opsight-opt -p delay_deinterleave --lanes=4 --block=16 %s | FileCheck-22 %s
; CHECK-NOT: .raw
; CHECK: %sum = fadd <4 x float> %p0, %p1
; CHECK-NOT: .raw
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, ptr %out, float %a, i1 %some) {
  %min = insertelement <4 x float> poison, float %a, i64 0
  %m = shufflevector <4 x float> %min, <4 x float> poison, <4 x i32> zeroinitializer
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %place = getelementptr i8, ptr %x, i64 %i
  %xbehind = getelementptr i8, ptr %place, i64 16
  %xr0 = load <4 x float>, ptr %place
  %xr1 = load <4 x float>, ptr %xbehind
  %x0 = shufflevector <4 x float> %xr0, <4 x float> %xr1, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %x1 = shufflevector <4 x float> %xr0, <4 x float> %xr1, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %p0 = fmul <4 x float> %x0, %m
  %p1 = fmul <4 x float> %x1, %m
  %sum = fadd <4 x float> %p0, %p1
  store volatile <4 x float> %sum, ptr %out
  %next = add i64 %i, 32
  %ends = icmp eq i64 %next, 64
  br i1 %ends, label %end, label %loop
end:
  ret void
}
declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare <4 x float> @llvm.maxnum.v4f32(<4 x float>, <4 x float>)
declare <4 x float> @llvm.minnum.v4f32(<4 x float>, <4 x float>)
