; RUN: opsight-opt -p saturate_casts %s | FileCheck-22 %s
; CHECK-LABEL: define {{.*}}@k
; CHECK: fcmp ole float %x, 0xC1E0000000000000
; CHECK: fcmp oge float %x, 0x41E0000000000000
; CHECK: select i1 {{.*}}, i32 -2147483648
; CHECK: select i1 {{.*}}, i32 2147483647
; CHECK: fptoui float %x to i32
; CHECK: trunc i32 {{.*}} to i8
; CHECK: fptosi <4 x float> %v to <4 x i32>
; CHECK-NEXT: store
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(float %x, <4 x float> %v, ptr addrspace(1) %o) {
  %1 = fptosi float %x to i32
  store i32 %1, ptr addrspace(1) %o
  %2 = fptoui float %x to i8
  store i8 %2, ptr addrspace(1) %o
  %3 = fptosi <4 x float> %v to <4 x i32>
  store <4 x i32> %3, ptr addrspace(1) %o
  ret void
}
