; RUN: opsight-opt -p map_subgroups --block=256 --subgroups=32 %s | FileCheck-22 %s
; RUN: opsight-opt -p map_subgroups --block=64,4 --subgroups=32 %s | FileCheck-22 %s
; RUN: opsight-opt -p map_subgroups --block=16,16 --subgroups=32 %s | FileCheck-22 --check-prefix=ROWS %s
; The row is the warp's number in the grid, and the vote decides for a warp as one. In a block of rows of 16 threads a warp
; is two rows, a subgroup one.
; CHECK: call spir_func i32 @_Z17sub_group_shufflejj(
; CHECK-NOT: call i32 @llvm.nvvm.shfl
; ROWS-NOT: sub_group
; ROWS: call i32 @llvm.nvvm.shfl.sync.bfly.i32(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %v, i32 %rows, ptr addrspace(1) %o) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %block, 8
  %warp = udiv i32 %t, 32
  %row = add i32 %first, %warp
  %outside = icmp uge i32 %row, %rows
  br i1 %outside, label %end, label %loop
loop:
  %x = phi i32 [ %v, %0 ], [ %sum, %loop ]
  %r = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %x, i32 8, i32 31)
  %sum = add i32 %r, %t
  %more = icmp slt i32 %sum, 1000
  %any = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %more)
  br i1 %any, label %loop, label %store
store:
  store i32 %sum, ptr addrspace(1) %o
  br label %end
end:
  ret void
}
