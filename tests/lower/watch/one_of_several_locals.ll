; Which of two local arrays an access goes to is known at run time only: it is not told as an access to the card's memory,
; where it would look like a stray. What leads into buffers alone is.
; RUN: opsight-opt -p watch --watched --block=64 %s | FileCheck-22 %s
; CHECK: %place = phi ptr
; CHECK-NOT: opsight.watch.access
; CHECK: load float, ptr %place
; CHECK: call void @opsight.watch.access
; CHECK-NEXT: load float, ptr %either
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %left, ptr %right, i1 %which) {
entry:
  %first = alloca float
  %second = alloca float
  br i1 %which, label %one, label %two
one:
  br label %join
two:
  br label %join
join:
  %place = phi ptr [ %first, %one ], [ %second, %two ]
  %either = phi ptr [ %left, %one ], [ %right, %two ]
  %v = load float, ptr %place
  %w = load float, ptr %either
  ret void
}
