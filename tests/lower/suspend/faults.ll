; A warp whose threads do not meet returns the place's complement, and what stood behind the call is gone.
; RUN: opsight-opt -p suspend %s | FileCheck-22 %s
; CHECK: define {{.*}}i32 @kernel(
; CHECK: bad:
; CHECK-NEXT: ret i32 -4
; CHECK: good:
; CHECK-NEXT: ret i32 0
define ptx_kernel void @kernel(i1 %some, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  br i1 %some, label %bad, label %good
bad:
  call void @opsight.fault(i32 3)
  ret void
good:
  ret void
}
declare void @opsight.fault(i32)
