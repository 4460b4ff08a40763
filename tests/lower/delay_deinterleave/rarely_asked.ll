; Who asks for parts gets them where he is: here on a way that is taken once, while the loop works on what it loads.
; RUN: opsight-opt -p delay_deinterleave --lanes=4 --block=16 %s | FileCheck-22 %s
; CHECK: %f0.raw = phi <4 x float>
; CHECK: %f1.raw = phi <4 x float>
; CHECK: call <4 x float> @llvm.fma.v4f32(<4 x float> %{{.*}}, <4 x float> %m, <4 x float> %f0.raw)
; CHECK: end:
; CHECK: %[[P0:.*]] = shufflevector <4 x float> %[[A:.*]], <4 x float> %[[B:.*]], <4 x i32> <i32 0, i32 2, i32 4, i32 6>
; CHECK: %[[P1:.*]] = shufflevector <4 x float> %[[A]], <4 x float> %[[B]], <4 x i32> <i32 1, i32 3, i32 5, i32 7>
; CHECK: %sum = fadd <4 x float> %[[P0]], %[[P1]]
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, ptr %out, float %a, i1 %some) {
  %min = insertelement <4 x float> poison, float %a, i64 0
  %m = shufflevector <4 x float> %min, <4 x float> poison, <4 x i32> zeroinitializer
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %f0 = phi <4 x float> [ zeroinitializer, %0 ], [ %g0, %loop ]
  %f1 = phi <4 x float> [ zeroinitializer, %0 ], [ %g1, %loop ]
  %place = getelementptr i8, ptr %x, i64 %i
  %xbehind = getelementptr i8, ptr %place, i64 16
  %xr0 = load <4 x float>, ptr %place
  %xr1 = load <4 x float>, ptr %xbehind
  %x0 = shufflevector <4 x float> %xr0, <4 x float> %xr1, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %x1 = shufflevector <4 x float> %xr0, <4 x float> %xr1, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %g0 = call <4 x float> @llvm.fma.v4f32(<4 x float> %x0, <4 x float> %m, <4 x float> %f0)
  %g1 = call <4 x float> @llvm.fma.v4f32(<4 x float> %x1, <4 x float> %m, <4 x float> %f1)
  %next = add i64 %i, 32
  %ends = icmp eq i64 %next, 64
  br i1 %ends, label %end, label %loop
end:
  %sum = fadd <4 x float> %g0, %g1
  store <4 x float> %sum, ptr %out
  ret void
}
declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare <4 x float> @llvm.maxnum.v4f32(<4 x float>, <4 x float>)
declare <4 x float> @llvm.minnum.v4f32(<4 x float>, <4 x float>)
