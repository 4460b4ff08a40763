; RUN: opsight-opt -p clamp_shifts %s | FileCheck-22 %s
; CHECK-LABEL: @k
; CHECK: icmp uge i32 %n, 32
; CHECK: select i1 {{.*}}, i32 0, i32 %n
; CHECK: %wide = shl i32
; CHECK: select i1 {{.*}}, i32 0, i32 %wide
; CHECK: %small = and i32 %n, 31
; CHECK-NEXT: shl i32 %x, %small
; CHECK-NEXT: store
define ptx_kernel void @k(i32 %x, i32 %n, ptr %o) {
  %wide = shl nuw i32 %x, %n
  store volatile i32 %wide, ptr %o
  %small = and i32 %n, 31
  %narrow = shl i32 %x, %small
  store volatile i32 %narrow, ptr %o
  ret void
}
