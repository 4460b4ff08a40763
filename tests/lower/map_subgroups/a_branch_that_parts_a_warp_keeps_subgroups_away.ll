; RUN: opsight-opt -p map_subgroups --block=64 --subgroups=32 %s | FileCheck-22 %s
; CHECK-NOT: sub_group
; CHECK: call i32 @llvm.nvvm.shfl.sync.bfly.i32(
; CHECK-NOT: sub_group
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %v, ptr addrspace(1) %o) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp ult i32 %t, 16
  br i1 %low, label %some, label %end
some:
  %r = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %v, i32 8, i32 31)
  store i32 %r, ptr addrspace(1) %o
  br label %end
end:
  ret void
}
