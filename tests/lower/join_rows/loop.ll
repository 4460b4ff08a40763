; A loop that takes a step along each thread's row takes four, so that there is something to join; the rounds that are
; left over stay single. A loop that writes what lies apart from them stays as it is.
; RUN: opsight-opt -p join_rows --lanes=8 --block=64 --kernel=sums %s | FileCheck-22 --check-prefix=SUMS %s
; RUN: opsight-opt -p join_rows --lanes=8 --block=64 --kernel=writes %s | FileCheck-22 --check-prefix=WRITES %s
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; SUMS-LABEL: @sums(
; SUMS: load <4 x float>
; SUMS: add {{.*}}%d{{.*}}, 4
; SUMS: load float
; SUMS-NOT: load float
; SUMS: ret void
define ptx_kernel void @sums(ptr %x, ptr %y, i64 %n) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext nneg i32 %lane to i64
  %row = getelementptr [65 x float], ptr %x, i64 %wide
  br label %loop
loop:
  %d = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi float [ 0.0, %0 ], [ %more, %loop ]
  %at = getelementptr float, ptr %row, i64 %d
  %a = load float, ptr %at
  %more = fadd float %sum, %a
  %next = add nuw nsw i64 %d, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %done
done:
  %all = phi float [ %more, %loop ]
  %to = getelementptr float, ptr %y, i64 %wide
  store float %all, ptr %to
  ret void
}
; WRITES-LABEL: @writes(
; WRITES: load float
; WRITES-NOT: load
; WRITES: ret void
define ptx_kernel void @writes(ptr %x, ptr %y, i64 %n) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext nneg i32 %lane to i64
  %row = getelementptr [65 x float], ptr %x, i64 %wide
  br label %loop
loop:
  %d = phi i64 [ 0, %0 ], [ %next, %loop ]
  %at = getelementptr float, ptr %row, i64 %d
  %a = load float, ptr %at
  %to = getelementptr float, ptr %y, i64 %d
  store float %a, ptr %to
  %next = add nuw nsw i64 %d, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
