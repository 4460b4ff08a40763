; A processor before AVX512-FP16 rounds double to half, and fused sums, by integers and floats; floats it fuses itself.
; RUN: opsight-opt -p round_halves --processor x86-64-v3 %s | FileCheck-22 %s
; RUN: opsight-opt -p round_halves --processor sapphirerapids %s | FileCheck-22 --check-prefix=NEW %s
target triple = "nvptx64-nvidia-cuda"
; CHECK-LABEL: define ptx_kernel void @k
; CHECK: fptrunc double %d to float
; CHECK-NOT: fptrunc double %d to half
; CHECK-NOT: fmul contract half
; CHECK-NOT: call half @llvm.fma
; CHECK: fmul contract float
; CHECK: ret void
; NEW: fptrunc double %d to half
; NEW: fmul contract half
define ptx_kernel void @k(double %d, half %a, half %b, float %x, ptr addrspace(1) %o) {
  %h = fptrunc double %d to half
  %p = fmul contract half %a, %b
  %s = fadd contract half %p, %h
  store half %s, ptr addrspace(1) %o
  %q = fmul contract float %x, %x
  %t = fadd contract float %q, %x
  store float %t, ptr addrspace(1) %o
  ret void
}
