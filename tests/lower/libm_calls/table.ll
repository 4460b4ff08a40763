; CUDA's functions without an intrinsic are the C library's, in the type's own precision; some are composed.
; RUN: opsight-opt -p libm_calls %s | FileCheck-22 %s
target triple = "nvptx64-nvidia-cuda"

; CHECK: call float @erff(float %x)
; CHECK: call double @erf(double %y)
; CHECK: call float @erfcf(float
; CHECK: fmul float
; CHECK: call float @__nv_erfcinvf
define ptx_kernel void @kernel(float %x, double %y) {
  %a = call float @__nv_erff(float %x)
  %b = call double @__nv_erf(double %y)
  %c = call float @__nv_normcdff(float %x)
  %d = call float @__nv_erfcinvf(float %x)
  ret void
}

declare float @__nv_erff(float)
declare double @__nv_erf(double)
declare float @__nv_normcdff(float)
declare float @__nv_erfcinvf(float)
