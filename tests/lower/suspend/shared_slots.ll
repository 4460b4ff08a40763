; Values that no barrier needs together lie at the same place: two vectors here, one after the other, in one slot.
; RUN: opsight-opt -p suspend %s | FileCheck-22 %s
; CHECK: dereferenceable(192) %opsight.frame
; CHECK-COUNT-2: getelementptr inbounds i8, ptr %opsight.frame, i64 64
define ptx_kernel void @kernel(ptr %x, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %a = load <16 x float>, ptr %x
  call i32 @opsight.barrier(i32 0, i32 0, i32 0)
  store <16 x float> %a, ptr %x
  %b = load <16 x float>, ptr %x
  call i32 @opsight.barrier(i32 1, i32 0, i32 0)
  store <16 x float> %b, ptr %x
  ret void
}
declare i32 @opsight.barrier(i32, i32, i32)
