; RUN: opsight-opt -p contract_multiply_add %s | FileCheck-22 %s
; CHECK-LABEL: @k
; CHECK: call contract float @llvm.fma.f32(float %a, float %b, float %c)
; CHECK: %kept = fmul float
; CHECK: fadd float %kept
; CHECK: [[N:%.*]] = fneg contract float %a
; CHECK: call contract float @llvm.fma.f32(float [[N]], float %c, float %b)
define ptx_kernel void @k(float %a, float %b, float %c, ptr %o) {
  %product = fmul contract float %a, %b
  %sum = fadd contract float %product, %c
  store volatile float %sum, ptr %o
  %kept = fmul float %a, %b
  %plain = fadd float %kept, %c
  store volatile float %plain, ptr %o
  %third = fmul contract float %a, %c
  %difference = fsub contract float %b, %third
  store volatile float %difference, ptr %o
  ret void
}
