; Arithmetic is float's, rounded to 16 bits; signs are bits; a fused sum is neither a float fma nor two roundings.
; RUN: opsight-opt --no-half -p soft_half %s | FileCheck-22 %s
target triple = "nvptx64-nvidia-cuda"

; Widening: subnormals by an exact product, infinities and NaN by their exponent. Rounding: by the carry, subnormals by
; adding a half.
; CHECK-LABEL: @sum(
; CHECK: zext i16 %a to i32
; CHECK: fmul float {{.*}}, 0x3E70000000000000
; CHECK: [[SUM:%.*]] = fadd float
; CHECK: bitcast float [[SUM]] to i32
; CHECK: fadd float {{.*}}, 5.000000e-01
; CHECK: trunc i32 {{.*}} to i16
; CHECK-NOT: half
define ptx_kernel void @sum(half %a, half %b, ptr addrspace(1) %o) {
  %sum = fadd half %a, %b
  store half %sum, ptr addrspace(1) %o
  ret void
}
