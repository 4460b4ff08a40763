; RUN: opsight-opt -p promote_integers %s | FileCheck-22 %s
; A remainder of a trip count is an i2 after LLVM's loop passes; held in an i8 it still is 0 to 3.
; CHECK-LABEL: define {{.*}}@k
; CHECK: %[[B:.*]] = trunc i32 %n to i8
; CHECK: %[[M:.*]] = and i8 %[[B]], 3
; CHECK: %[[P:.*]] = phi i8 [ %[[M]],
; CHECK: %[[S:.*]] = add i8 %[[P]], 3
; CHECK: and i8 %[[S]], 3
; CHECK: icmp eq i8
; CHECK: %[[W:.*]] = zext i32 %n to i64
; CHECK: %[[X:.*]] = and i64 %[[W]], 8589934591
; CHECK: %[[Q:.*]] = mul i64 %[[X]], %[[X]]
; CHECK: and i64 %[[Q]], 8589934591
; CHECK: shl i64 {{.*}}, 31
; CHECK: ashr i64 {{.*}}, 31
; CHECK: switch i8 {{.*}}, label
; CHECK-NEXT: i8 7,
; CHECK-NOT: {{i2|i3|i33}} 
; CHECK: ret void
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %n, ptr addrspace(1) %o) {
entry:
  %t = trunc i32 %n to i2
  br label %loop
loop:
  %i = phi i2 [ %t, %entry ], [ %j, %loop ]
  %j = add i2 %i, -1
  %c = icmp eq i2 %j, 0
  br i1 %c, label %out, label %loop
out:
  %w = zext i32 %n to i33
  %q = mul i33 %w, %w
  %h = ashr i33 %q, 1
  %l = trunc i33 %h to i32
  store i32 %l, ptr addrspace(1) %o
  %s = trunc i32 %n to i3
  switch i3 %s, label %end [ i3 -1, label %loop2 ]
loop2:
  br label %end
end:
  ret void
}
