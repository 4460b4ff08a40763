; A product and a sum that may fuse become one fused sum: the product and the sum's error are exact in float, and the sum
; is made odd where it is not, so that half rounds it once.
; RUN: opsight-opt --no-half -p contract_multiply_add -p soft_half %s | FileCheck-22 %s
; CHECK-LABEL: define ptx_kernel void @k
; CHECK: [[PRODUCT:%.*]] = fmul float {{%[0-9]+}}, {{%[0-9]+}}
; CHECK: [[SUM:%.*]] = fadd float [[PRODUCT]], {{%[0-9]+}}
; CHECK: [[PART:%.*]] = fsub float [[SUM]], [[PRODUCT]]
; CHECK: [[LEFT:%.*]] = fsub float [[SUM]], [[PART]]
; CHECK: fsub float [[PRODUCT]], [[LEFT]]
; CHECK: [[ERROR:%.*]] = fadd float
; CHECK: fcmp olt float [[ERROR]], 0.0
; CHECK: fcmp one float [[ERROR]], 0.0
; CHECK: and i32 {{.*}}, 1
; CHECK-NOT: call
; CHECK: ret void
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(half %a, half %b, half %c, ptr addrspace(1) %o) {
  %p = fmul contract half %a, %b
  %s = fadd contract half %p, %c
  store half %s, ptr addrspace(1) %o
  ret void
}
