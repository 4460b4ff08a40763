; The exported entry reads each argument once, then calls the body for every block of its range.
; RUN: opsight-opt -p block_indices -p stack_shared -p retarget -p block_range %s | FileCheck-22 %s
target triple = "nvptx64-nvidia-cuda"

; CHECK: define internal void @opsight.block(ptr %x, i32 %n,
; CHECK: define void @kernel(ptr %launch, i64 %begin, i64 %end, ptr %shared)
; CHECK: icmp ult i64 %begin, %end
; CHECK: first:
; CHECK: udiv i64 %begin
; CHECK: each:
; CHECK-NEXT: phi i64 [ %begin, %first ]
; CHECK-NOT: udiv
; CHECK: call void @opsight.block(ptr %{{.*}}, i32 %{{.*}}, ptr %shared)
; CHECK: br i1 %{{.*}}, label %each, label %done
define ptx_kernel void @kernel(ptr %x, i32 %n) {
  store i32 %n, ptr %x
  ret void
}
