; What is needed behind a barrier is stored there and loaded on return: the accumulator and the counter. The address,
; which arguments give, is made anew; the weights, which do not change, are put there once, before the loop.
; RUN: opsight-opt -p suspend %s | FileCheck-22 %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

; CHECK: define {{.*}}i32 @kernel({{.*}}, ptr noalias align 64 dereferenceable(192) %opsight.frame, i32 %opsight.vote)
; CHECK: dispatch:
; CHECK-NEXT: %state = load i32, ptr %opsight.frame
; CHECK-NEXT: switch i32 %state, label %never [
; CHECK-NEXT: i32 0, label %first
; CHECK-NEXT: i32 1, label %resume.0
; CHECK-NEXT: i32 2, label %resume.1

; CHECK: first:
; CHECK: %weights = load <16 x float>
; CHECK: store <16 x float> %weights, ptr %{{.*}}, align 64
; CHECK-NEXT: br label %loop

; CHECK: loop:
; CHECK: %sum = phi
; CHECK-NEXT: getelementptr
; CHECK-NEXT: store i32 %i, ptr %{{.*}}, align 8
; CHECK-NEXT: getelementptr
; CHECK-NEXT: store <16 x float> %sum, ptr %{{.*}}, align 64
; CHECK-NEXT: store i32 1, ptr %opsight.frame
; CHECK-NEXT: ret i32 1

; CHECK: resume.0:
; CHECK-COUNT-2: load <16 x float>, ptr %{{.*}}, align 64
; CHECK: getelementptr float, ptr %x
; CHECK: %more = fadd
; CHECK-NEXT: getelementptr
; CHECK-NEXT: store <16 x float> %more, ptr
; CHECK-NEXT: store i32 2, ptr %opsight.frame
; CHECK-NEXT: ret i32 2
; CHECK: resume.1:
; CHECK: exit:
; CHECK: ret i32 0
; CHECK: never:
; CHECK-NEXT: unreachable
define ptx_kernel void @kernel(ptr %x, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %offset = zext i32 %opsight.warp to i64
  %home = getelementptr float, ptr %x, i64 %offset
  %weights = load <16 x float>, ptr %home
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %sum = phi <16 x float> [ zeroinitializer, %0 ], [ %more, %loop ]
  call i32 @opsight.barrier(i32 0, i32 0, i32 0)
  %v = load <16 x float>, ptr %home
  %scaled = fmul <16 x float> %v, %weights
  %more = fadd <16 x float> %sum, %scaled
  call i32 @opsight.barrier(i32 1, i32 0, i32 0)
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  store <16 x float> %more, ptr %home
  ret void
}
declare i32 @opsight.barrier(i32, i32, i32)
