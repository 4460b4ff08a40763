; RUN: opsight-opt -p remap_address_spaces %s | FileCheck-22 %s
; CHECK: define {{.*}}@k(ptr addrspace(1) %table, ptr addrspace(4) %any)
; CHECK: %own = alloca i32
; CHECK-NEXT: store i32 1, ptr %own
; CHECK: load i32, ptr addrspace(1) %table
; CHECK: addrspacecast (ptr addrspace(3) @s to ptr addrspace(4))
@s = internal addrspace(3) global [4 x i32] undef
define ptx_kernel void @k(ptr addrspace(1) %table, ptr %any) {
  %own = alloca i32, addrspace(5)
  store i32 1, ptr addrspace(5) %own
  %constant = addrspacecast ptr addrspace(1) %table to ptr addrspace(4)
  %v = load i32, ptr addrspace(4) %constant
  %same = icmp eq ptr %any, addrspacecast (ptr addrspace(3) @s to ptr)
  %w = select i1 %same, i32 %v, i32 0
  store i32 %w, ptr addrspace(1) %table
  ret void
}
