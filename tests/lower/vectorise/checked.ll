; What is known of a warp's addresses decides how they are checked: one place, a row of neighbours, several places, lanes
; with an address each; of what nobody writes only the bounds.
; RUN: opsight-opt -p watch -p warp_width -p thread_indices -p shared_memory -p vectorise --checked --block=64 %s | FileCheck-22 %s
; CHECK: call void @opsight_check_enter(ptr %opsight.shadow, i32 %opsight.warp, i64
; A uniform load of what others write: object 0, site 0, 4 bytes.
; CHECK: call void @opsight_check_place1(ptr %opsight.shadow, i32 0, i64 0, i64 %{{.*}}, i32 -1, i32 0, i32 %opsight.warp, i32 [[#]], i32 4, i32 4)
; CHECK: call void @opsight_check_row32(ptr %opsight.shadow, i32 0, i64 0, i64 %{{.*}}, i32 -1, i32 1, i32 %opsight.warp, i32 [[#]], i32 4, i32 4)
; Sixteen neighbours and the same sixteen again are one row.
; CHECK: call void @opsight_check_row16(ptr %opsight.shadow, i32 0, {{.*}}, i32 2, i32 %opsight.warp,
; CHECK-NOT: opsight_check_row16
; CHECK: call void @opsight_look_lanes(ptr %opsight.shadow, i32 0, i64 0, ptr %{{.*}}, i32 -1, i32 3,
; A whole warp's 32 columns of the buffer that is only read: the bytes from the first to the last.
; CHECK: call void @opsight_check_place1(ptr %opsight.shadow, i32 1, i64 0, i64 %{{.*}}, i32 -1, i32 4, i32 %opsight.warp, i32 [[#]], i32 996, i32 4)
; CHECK: call void @opsight_check_sync(ptr %opsight.shadow, i32 %opsight.warp, i32 255, i32 -1)
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, ptr %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %one = load i32, ptr %x
  %own = getelementptr i32, ptr %x, i32 %t
  store i32 %one, ptr %own
  %low = and i32 %t, 15
  %row = getelementptr i32, ptr %x, i32 %low
  %b = load i32, ptr %row
  %far = mul i32 %t, 8
  %column = getelementptr i32, ptr %x, i32 %far
  %c = load i32, ptr %column
  %other = getelementptr i32, ptr %y, i32 %far
  %d = load i32, ptr %other
  call void @llvm.nvvm.bar.warp.sync(i32 255)
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.bar.warp.sync(i32)
