; Functions that no library has are made of ones it has, in the type's own precision.
; RUN: opsight-opt -p map_mathematics %s | FileCheck-22 %s
; RUN: opsight-opt -p libm_calls %s | FileCheck-22 --check-prefix=LIBM %s
; CHECK: [[TAIL:%.*]] = call spir_func float @_Z4erfcf(float
; CHECK: fmul float 5.000000e-01, [[TAIL]]
; CHECK: [[LONG:%.*]] = call spir_func double @_Z5hypotdd(double %y, double %z)
; CHECK: fdiv double 1.000000e+00, [[LONG]]
; CHECK: [[TWO:%.*]] = call spir_func float @_Z5hypotff(float %x, float %x)
; CHECK: [[THREE:%.*]] = call spir_func float @_Z5hypotff(float [[TWO]], float %x)
; CHECK: call spir_func float @_Z5hypotff(float [[THREE]], float %x)
; LIBM: call float @erfcf(float
; LIBM: call double @hypot(double %y, double %z)
; LIBM: [[TWO:%.*]] = call float @hypotf(float %x, float %x)
; LIBM: [[THREE:%.*]] = call float @hypotf(float [[TWO]], float %x)
; LIBM: call float @hypotf(float [[THREE]], float %x)
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(float %x, double %y, double %z, ptr addrspace(1) %o) {
  %a = call float @__nv_normcdff(float %x)
  store float %a, ptr addrspace(1) %o
  %b = call double @__nv_rhypot(double %y, double %z)
  store double %b, ptr addrspace(1) %o
  %c = call float @__nv_norm4df(float %x, float %x, float %x, float %x)
  store float %c, ptr addrspace(1) %o
  ret void
}
declare float @__nv_normcdff(float)
declare double @__nv_rhypot(double, double)
declare float @__nv_norm4df(float, float, float, float)
