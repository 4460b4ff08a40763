; The extension of a sum that cannot wrap moves to its operands: the lane's part is a constant again.
; RUN: opsight-opt -p widen_indices %s | FileCheck-22 %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.laneid()

; CHECK-LABEL: @kernel(
define ptx_kernel void @kernel(ptr addrspace(1) %out, i32 %row) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
; CHECK-DAG: [[LANE:%.*]] = sext i32 %lane to i64
; CHECK-DAG: [[ROW:%.*]] = sext i32 %row to i64
; CHECK: [[SUM:%.*]] = add nsw i64 [[ROW]], [[LANE]]
; CHECK: getelementptr float, ptr addrspace(1) %out, i64 [[SUM]]
  %sum = add nsw i32 %row, %lane
  %wide = sext i32 %sum to i64
  %place = getelementptr float, ptr addrspace(1) %out, i64 %wide
  store float 0.0, ptr addrspace(1) %place

; A sum that may wrap stays narrow.
; CHECK: [[FREE:%.*]] = add i32 %row, %lane
; CHECK: zext i32 [[FREE]] to i64
  %free = add i32 %row, %lane
  %unsigned = zext i32 %free to i64
  %other = getelementptr float, ptr addrspace(1) %out, i64 %unsigned
  store float 0.0, ptr addrspace(1) %other
  ret void
}
