; RUN: opsight-opt -p map_subgroups --block=64 --subgroups=32 %s | FileCheck-22 %s
; A reduction over some lanes reads each lane and takes those of its own mask; a builtin would take all.
; CHECK-NOT: reduce
; CHECK-COUNT-32: call spir_func i32 @_Z17sub_group_shufflejj(i32 %v, i32 {{[0-9]+}})
; CHECK-NOT: call spir_func i32 @_Z17sub_group_shufflejj
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %v, i32 %mask, ptr addrspace(1) %o) {
  %r = call i32 @llvm.nvvm.redux.sync.add(i32 %v, i32 %mask)
  store i32 %r, ptr addrspace(1) %o
  ret void
}
