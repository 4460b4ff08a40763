; Numbers that differ between the lanes go with the lanes: the parts are needed.
; RUN: opsight-opt -p delay_deinterleave --lanes=4 --block=16 %s | FileCheck-22 %s
; CHECK: %s0 = fadd <4 x float> %x0, %own
; CHECK: %s1 = fadd <4 x float> %x1, %own
; CHECK: %both = shufflevector <4 x float> %s0, <4 x float> %s1,
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, ptr %out, float %a, i1 %some) {
  %own = load <4 x float>, ptr %out
  %xbehind = getelementptr i8, ptr %x, i64 16
  %xr0 = load <4 x float>, ptr %x
  %xr1 = load <4 x float>, ptr %xbehind
  %x0 = shufflevector <4 x float> %xr0, <4 x float> %xr1, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %x1 = shufflevector <4 x float> %xr0, <4 x float> %xr1, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %s0 = fadd <4 x float> %x0, %own
  %s1 = fadd <4 x float> %x1, %own
  %both = shufflevector <4 x float> %s0, <4 x float> %s1, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %raw = shufflevector <8 x float> %both, <8 x float> poison, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %raw, ptr %out
  ret void
}
declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare <4 x float> @llvm.maxnum.v4f32(<4 x float>, <4 x float>)
declare <4 x float> @llvm.minnum.v4f32(<4 x float>, <4 x float>)
