; A matrix load reads a row of 16 bytes for each lane whose address counts: all of them for four matrices, for one the first
; eight lanes alone.
; RUN: opsight-opt -p watch --watched %s | FileCheck-22 %s
; CHECK: [[LANE:%.*]] = call {{.*}}@llvm.nvvm.read.ptx.sreg.laneid()
; CHECK-NEXT: [[COUNTS:%.*]] = icmp ult i32 [[LANE]], 8
; CHECK-NEXT: br i1 [[COUNTS]], label %[[SAY:.*]], label %[[LOAD:.*]]
; CHECK: [[SAY]]:
; CHECK: call void @opsight.watch.access(
; CHECK: [[LOAD]]:
; CHECK-NEXT: call {{.*}}@__opsight_ldmatrix_x1(
; CHECK-NOT: br
; CHECK: call void @opsight.watch.access(
; CHECK-NEXT: call {{.*}}@__opsight_ldmatrix_x4(
target triple = "nvptx64-nvidia-cuda"
declare { i32 } @__opsight_ldmatrix_x1(ptr addrspace(3)) convergent
declare { i32, i32, i32, i32 } @__opsight_ldmatrix_x4(ptr addrspace(3)) convergent
define ptx_kernel void @kernel(ptr addrspace(3) %row) {
  %one = call { i32 } @__opsight_ldmatrix_x1(ptr addrspace(3) %row) convergent
  %four = call { i32, i32, i32, i32 } @__opsight_ldmatrix_x4(ptr addrspace(3) %row) convergent
  ret void
}
