; A loop is split even where its body is short, for its masks cost every round; memory is touched by atomics too.
; RUN: opsight-opt -p all_active %s | FileCheck-22 %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.laneid()

; CHECK-LABEL: @kernel(
; CHECK: round.full:
; CHECK: atomicrmw
; CHECK: [[ON:%.*]] = call i1 @opsight.full(i1 %again{{.*}})
; CHECK: br i1 [[ON]], label %round.full, label %some.left
define ptx_kernel void @kernel(ptr addrspace(1) %out, i64 %n) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = zext nneg i32 %lane to i64
  br label %round

round:
  %index = phi i64 [ %first, %0 ], [ %next, %round ]
  %place = getelementptr i32, ptr addrspace(1) %out, i64 %index
  %old = atomicrmw add ptr addrspace(1) %place, i32 1 monotonic, align 4
  %next = add nuw nsw i64 %index, 32
  %again = icmp slt i64 %next, %n
  br i1 %again, label %round, label %done

done:
  ret void
}
