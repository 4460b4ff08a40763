; A kernel that never waits stays a plain function.
; RUN: opsight-opt -p suspend %s | FileCheck-22 %s
; CHECK: define {{.*}}void @kernel(ptr %x,
; CHECK-SAME: i32 %opsight.warp)
; CHECK-NEXT: store i32 1
define ptx_kernel void @kernel(ptr %x, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  store i32 1, ptr %x
  ret void
}
