; Four floats at an address that is a multiple of 16 are read at once, as the source's float4 says; others stay apart.
; RUN: opsight-opt -p join_accesses --watched --block=64 %s | FileCheck-22 %s
; CHECK: load <4 x float>, ptr addrspace(1) %x, align 16
; CHECK: load float, ptr addrspace(1) %y, align 4
; CHECK: load float, ptr addrspace(1) %y1, align 4
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %out) {
  %x1 = getelementptr float, ptr addrspace(1) %x, i64 1
  %x2 = getelementptr float, ptr addrspace(1) %x, i64 2
  %x3 = getelementptr float, ptr addrspace(1) %x, i64 3
  %a = load float, ptr addrspace(1) %x, align 16
  %b = load float, ptr addrspace(1) %x1, align 4
  %c = load float, ptr addrspace(1) %x2, align 8
  %d = load float, ptr addrspace(1) %x3, align 4
  %y1 = getelementptr float, ptr addrspace(1) %y, i64 1
  %e = load float, ptr addrspace(1) %y, align 4
  %f = load float, ptr addrspace(1) %y1, align 4
  %s = fadd float %a, %b
  %t = fadd float %c, %d
  %u = fadd float %e, %f
  %v = fadd float %s, %t
  %w = fadd float %u, %v
  store float %w, ptr addrspace(1) %out
  ret void
}
