; Addresses that lie side by side unless a 32-bit index wraps between two threads: that is asked, and one vector read or
; written where it does not. An unsigned index wraps elsewhere than a signed one.
; RUN: opsight-opt -p vectorise --lanes=8 --block=64 --kernel=signed %s | FileCheck-22 --check-prefix=SIGNED %s
; RUN: opsight-opt -p vectorise --lanes=8 --block=64 --kernel=unsigned %s | FileCheck-22 --check-prefix=UNSIGNED %s
target triple = "nvptx64-nvidia-cuda"
; SIGNED-LABEL: @signed(
; SIGNED: [[LOWEST:%.*]] = add i32 %index, 0
; SIGNED: [[HOLDS:%.*]] = icmp sle i32 [[LOWEST]], 2147483640
; SIGNED: br i1 [[HOLDS]], label %as.hoped, label %wraps
; SIGNED: as.hoped:
; SIGNED: load <8 x float>
; SIGNED: wraps:
; SIGNED: @llvm.masked.gather
; SIGNED: either:
; SIGNED: phi <8 x float>
define ptx_kernel void @signed(ptr %x, ptr %y, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %moved = add i32 %lane, 3
  %index = add i32 %n, %moved
  %wide = sext i32 %index to i64
  %at = getelementptr float, ptr %x, i64 %wide
  %a = load float, ptr %at
  %own = zext nneg i32 %lane to i64
  %to = getelementptr float, ptr %y, i64 %own
  store float %a, ptr %to
  ret void
}
; UNSIGNED-LABEL: @unsigned(
; UNSIGNED: icmp ule i32 %{{.*}}, -8
; UNSIGNED: as.hoped:
; UNSIGNED: store <8 x float>
; UNSIGNED: wraps:
; UNSIGNED: @llvm.masked.scatter
define ptx_kernel void @unsigned(ptr %x, ptr %y, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %own = zext nneg i32 %lane to i64
  %from = getelementptr float, ptr %x, i64 %own
  %a = load float, ptr %from
  %index = add i32 %n, %lane
  %wide = zext i32 %index to i64
  %at = getelementptr float, ptr %y, i64 %wide
  store float %a, ptr %at
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
