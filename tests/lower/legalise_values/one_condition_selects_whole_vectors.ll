; RUN: opsight-opt -p legalise_values %s | FileCheck-22 %s
; CHECK-LABEL: define {{.*}}@k
; CHECK: %[[ALL:.*]] = shufflevector <4 x i1> %{{.*}}, <4 x i1> poison, <4 x i32> zeroinitializer
; CHECK: select <4 x i1> %[[ALL]], <4 x float> %a, <4 x float> %b
; CHECK: select <4 x i1> %m, <4 x float> %a
; CHECK: select i1 %c, i32 1, i32 2
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i1 %c, <4 x i1> %m, <4 x float> %a, <4 x float> %b, ptr addrspace(1) %o) {
  %v = select i1 %c, <4 x float> %a, <4 x float> %b
  store <4 x float> %v, ptr addrspace(1) %o
  %w = select <4 x i1> %m, <4 x float> %a, <4 x float> %b
  store <4 x float> %w, ptr addrspace(1) %o
  %s = select i1 %c, i32 1, i32 2
  store i32 %s, ptr addrspace(1) %o
  ret void
}
