; RUN: opsight-opt -p map_subgroups --block=64 --subgroups=32 %s | FileCheck-22 %s
; RUN: opsight-opt --emit spvasm --block=64 --subgroups=32 %s | FileCheck-22 --check-prefix=SPIRV %s
; Four barriers in branches are too many for compilers of OpenCL C: threads proceed in rounds, and the shuffle with them.
; CHECK-NOT: sub_group
; CHECK: call i32 @llvm.nvvm.shfl.sync.idx.i32(
; SPIRV: Version: 1.0
; SPIRV-NOT: OpGroupNonUniform
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %v, i32 %n, ptr addrspace(1) %o) {
  %r = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %v, i32 0, i32 31)
  %c0 = icmp ugt i32 %n, 0
  br i1 %c0, label %b0, label %j0
b0:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %j0
j0:
  %c1 = icmp ugt i32 %n, 1
  br i1 %c1, label %b1, label %j1
b1:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %j1
j1:
  %c2 = icmp ugt i32 %n, 2
  br i1 %c2, label %b2, label %j2
b2:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %j2
j2:
  %c3 = icmp ugt i32 %n, 3
  br i1 %c3, label %b3, label %j3
b3:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %j3
j3:
  store i32 %r, ptr addrspace(1) %o
  ret void
}
