; RUN: opsight-opt -p map_mathematics %s | FileCheck-22 %s
; CHECK: call spir_func float @_Z3expf(float %x)
; CHECK: call spir_func float @_Z4fmaxff(float
; CHECK: call spir_func float @_Z3erff(float
define ptx_kernel void @k(float %x, ptr addrspace(1) %o) {
  %a = call float @llvm.exp.f32(float %x)
  %b = call float @llvm.maxnum.f32(float %a, float %x)
  %c = call float @__nv_erff(float %b)
  store float %c, ptr addrspace(1) %o
  ret void
}
declare float @__nv_erff(float)
