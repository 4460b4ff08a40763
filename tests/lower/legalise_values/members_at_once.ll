; A member of a member of a member is taken in one step.
; RUN: opsight-opt -p legalise_values %s | FileCheck-22 %s
; CHECK: load %outer
; CHECK-NEXT: extractvalue %outer %whole, 1, 1, 0
; CHECK-NEXT: store i16
%one = type { i16 }
%pair = type { %one, %one }
%outer = type { i32, %pair }
define ptx_kernel void @k(ptr addrspace(1) %o) {
  %whole = load %outer, ptr addrspace(1) %o
  %pair = extractvalue %outer %whole, 1
  %one = extractvalue %pair %pair, 1
  %member = extractvalue %one %one, 0
  store i16 %member, ptr addrspace(1) %o
  ret void
}
