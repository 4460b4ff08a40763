; rsqrtf() of any number of lanes is estimated with AVX-512. What is not is divided exactly: left to the compiler, its estimate
; would make a NaN of 0.
; RUN: opsight-opt -p estimate_roots --processor znver4 %s | FileCheck-22 %s
; RUN: opsight-opt -p estimate_roots --processor x86-64-v3 %s | FileCheck-22 --check-prefix=OLD %s
target triple = "x86_64-unknown-linux-gnu"
; CHECK-LABEL: define ptx_kernel void @k
; CHECK: call <4 x float> @llvm.x86.avx512.rsqrt14.ps.128(
; CHECK: call <4 x float> @llvm.fma.v4f32(
; CHECK: call <4 x float> @llvm.x86.avx512.mask.fixupimm.ps.128(
; CHECK: call <16 x float> @llvm.x86.avx512.rsqrt14.ps.512(
; CHECK: call <16 x float> @llvm.x86.avx512.rsqrt14.ps.512(
; CHECK: call <16 x float> @llvm.x86.avx512.mask.fixupimm.ps.512(
; CHECK: fdiv float 1.000000e+00
; CHECK: fdiv double
; OLD-NOT: arcp
; OLD: fdiv float
; OLD: fdiv <32 x float>
; OLD-NOT: rsqrt14
; OLD-NOT: arcp
define ptx_kernel void @k(float %x, <32 x float> %v, double %d, ptr %o) {
  %rx = call float @llvm.sqrt.f32(float %x)
  %ix = fdiv arcp float 1.0, %rx
  store float %ix, ptr %o
  %rv = call <32 x float> @llvm.sqrt.v32f32(<32 x float> %v)
  %iv = fdiv arcp <32 x float> splat (float 1.0), %rv
  store <32 x float> %iv, ptr %o
  %exact = fdiv float 1.0, %rx
  store float %exact, ptr %o
  %rd = call double @llvm.sqrt.f64(double %d)
  %id = fdiv arcp double 1.0, %rd
  store double %id, ptr %o
  ret void
}
