; RUN: opsight-opt -p contract_multiply_add %s | FileCheck-22 %s
; CHECK: fmul contract
; CHECK-NOT: fma
define ptx_kernel void @k(float %a, float %b, float %c, ptr %o) {
  %product = fmul contract float %a, %b
  %sum = fadd contract float %product, %c
  store volatile float %sum, ptr %o
  store volatile float %product, ptr %o
  ret void
}
