; A kernel says where it waits for the whole grid by a mark on the place, and that it may by an attribute.
; RUN: opsight-opt -p suspend %s | FileCheck-22 %s
; CHECK: define {{.*}}i32 @kernel({{.*}}) #[[GRID:[0-9]+]]
; CHECK: ret i32 1{{$}}
; CHECK: ret i32 1073741826
; CHECK: attributes #[[GRID]] = {{.*}}"opsight.grid"
define ptx_kernel void @kernel(ptr %x, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  call i32 @opsight.barrier(i32 0, i32 0, i32 0)
  call i32 @opsight.barrier(i32 1, i32 4, i32 0)
  store i32 %opsight.warp, ptr %x
  ret void
}
declare i32 @opsight.barrier(i32, i32, i32)
