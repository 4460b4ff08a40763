; Parts with which not the same is done are no bundle: other operations, other functions, other flags, another number.
; RUN: opsight-opt -p delay_deinterleave --lanes=4 --block=16 %s | FileCheck-22 %s
; CHECK: %s0 = fsub <4 x float> %x0, %m
; CHECK: %s1 = fadd <4 x float> %x1, %m
; CHECK: %w0 = call <4 x float> @llvm.maxnum.v4f32(<4 x float> %y0, <4 x float> %m)
; CHECK: %w1 = call <4 x float> @llvm.minnum.v4f32(<4 x float> %y1, <4 x float> %m)
; CHECK: %u0 = fadd nnan <4 x float> %y0, %m
; CHECK: %u1 = fadd <4 x float> %y1, %m
; CHECK: %v0 = fmul <4 x float> %z0, splat (float 2.000000e+00)
; CHECK: %v1 = fmul <4 x float> %z1, splat (float 3.000000e+00)
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, ptr %out, float %a, i1 %some) {
  %xbehind = getelementptr i8, ptr %x, i64 16
  %xr0 = load <4 x float>, ptr %x
  %xr1 = load <4 x float>, ptr %xbehind
  %x0 = shufflevector <4 x float> %xr0, <4 x float> %xr1, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %x1 = shufflevector <4 x float> %xr0, <4 x float> %xr1, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %ybehind = getelementptr i8, ptr %out, i64 16
  %yr0 = load <4 x float>, ptr %out
  %yr1 = load <4 x float>, ptr %ybehind
  %y0 = shufflevector <4 x float> %yr0, <4 x float> %yr1, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %y1 = shufflevector <4 x float> %yr0, <4 x float> %yr1, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %min = insertelement <4 x float> poison, float %a, i64 0
  %m = shufflevector <4 x float> %min, <4 x float> poison, <4 x i32> zeroinitializer
  %far = getelementptr i8, ptr %x, i64 64
  %zbehind = getelementptr i8, ptr %far, i64 16
  %zr0 = load <4 x float>, ptr %far
  %zr1 = load <4 x float>, ptr %zbehind
  %z0 = shufflevector <4 x float> %zr0, <4 x float> %zr1, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %z1 = shufflevector <4 x float> %zr0, <4 x float> %zr1, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %s0 = fsub <4 x float> %x0, %m
  %s1 = fadd <4 x float> %x1, %m
  %w0 = call <4 x float> @llvm.maxnum.v4f32(<4 x float> %y0, <4 x float> %m)
  %w1 = call <4 x float> @llvm.minnum.v4f32(<4 x float> %y1, <4 x float> %m)
  %u0 = fadd nnan <4 x float> %y0, %m
  %u1 = fadd <4 x float> %y1, %m
  %v0 = fmul <4 x float> %z0, splat (float 2.0)
  %v1 = fmul <4 x float> %z1, splat (float 3.0)
  %sboth = shufflevector <4 x float> %s0, <4 x float> %s1, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %sraw = shufflevector <8 x float> %sboth, <8 x float> poison, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %sraw, ptr %out
  %uboth = shufflevector <4 x float> %u0, <4 x float> %u1, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %uraw = shufflevector <8 x float> %uboth, <8 x float> poison, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %uraw, ptr %out
  %vboth = shufflevector <4 x float> %v0, <4 x float> %v1, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %vraw = shufflevector <8 x float> %vboth, <8 x float> poison, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %vraw, ptr %out
  %wboth = shufflevector <4 x float> %w0, <4 x float> %w1, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %wraw = shufflevector <8 x float> %wboth, <8 x float> poison, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %wraw, ptr %out
  ret void
}
declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare <4 x float> @llvm.maxnum.v4f32(<4 x float>, <4 x float>)
declare <4 x float> @llvm.minnum.v4f32(<4 x float>, <4 x float>)
