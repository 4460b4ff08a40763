; Doubles are made odd floats first, so that they round once; integers go through float, which is exact where half is finite.
; RUN: opsight-opt --no-half -p soft_half %s | FileCheck-22 %s
; CHECK-LABEL: define ptx_kernel void @k
; CHECK: [[FLOAT:%.*]] = fptrunc double %d to float
; CHECK: [[BACK:%.*]] = fpext float [[FLOAT]] to double
; CHECK: fcmp one double %d, [[BACK]]
; CHECK: sitofp i64 %i to float
; CHECK: uitofp <2 x i32> %u to <2 x float>
; CHECK: trunc <2 x i32> {{.*}} to <2 x i16>
; CHECK: fptoui float {{.*}} to i8
; CHECK: [[WIDE:%.*]] = bitcast i32 {{.*}} to float
; CHECK-NEXT: fpext float [[WIDE]] to double
; CHECK: fcmp ult float
; CHECK-NOT: half
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(double %d, i64 %i, <2 x i32> %u, ptr addrspace(1) %o) {
  %a = fptrunc double %d to half
  %b = sitofp i64 %i to half
  %c = uitofp <2 x i32> %u to <2 x half>
  store <2 x half> %c, ptr addrspace(1) %o
  %e = fptoui half %a to i8
  store i8 %e, ptr addrspace(1) %o
  %f = fpext half %b to double
  store double %f, ptr addrspace(1) %o
  %g = fcmp ult half %a, %b
  store i1 %g, ptr addrspace(1) %o
  ret void
}
