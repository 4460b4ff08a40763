; RUN: opsight-opt -p map_subgroups --block=64 --subgroups=32 %s | FileCheck-22 %s
; The shuffle is reached by whole warps, but a barrier that some threads pass by makes the kernel proceed in rounds.
; CHECK-NOT: sub_group
; CHECK: call i32 @llvm.nvvm.shfl.sync.idx.i32(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %v, ptr addrspace(1) %o) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %v, i32 0, i32 31)
  %outside = icmp uge i32 %t, 40
  br i1 %outside, label %end, label %inside
inside:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 %r, ptr addrspace(1) %o
  br label %end
end:
  ret void
}
