; The float at t and the first one of the float4 at t are two places, and so are the float at t + 1 and that one's second.
; RUN: opsight-opt -p join_accesses --watched %s | FileCheck-22 %s
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
; CHECK-LABEL: @kernel(
; CHECK-DAG: [[SINGLE:%.*]] = mul nuw nsw i64 %t, 4
; CHECK-DAG: [[FOURS:%.*]] = mul nuw nsw i64 %t, 16
; CHECK-DAG: [[A:%.*]] = getelementptr inbounds nuw i8, ptr addrspace(1) %x, i64 [[SINGLE]]
; CHECK-DAG: [[B:%.*]] = getelementptr inbounds nuw i8, ptr addrspace(1) %x, i64 [[FOURS]]
; CHECK-DAG: %one = load float, ptr addrspace(1) [[A]]
; CHECK-DAG: load <2 x float>, ptr addrspace(1) [[B]]
; CHECK: %difference = fsub float %one, %{{.*}}
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %o, i64 %t) {
  %a = getelementptr inbounds nuw float, ptr addrspace(1) %x, i64 %t
  %one = load float, ptr addrspace(1) %a, align 4
  %b = getelementptr inbounds nuw [4 x float], ptr addrspace(1) %x, i64 %t
  %first = load float, ptr addrspace(1) %b, align 16
  %c = getelementptr inbounds nuw i8, ptr addrspace(1) %b, i64 4
  %second = load float, ptr addrspace(1) %c, align 4
  %difference = fsub float %one, %first
  %sum = fadd float %difference, %second
  store float %sum, ptr addrspace(1) %o, align 4
  ret void
}
