; Addresses that differ by the lane alone stay so where all threads come to a join the same way; where threads part on
; the way to it, each has its own. A column of addresses is written with a store a thread.
; RUN: opsight-opt -p vectorise --lanes=4 --block=64 --kernel=common %s | FileCheck-22 --check-prefix=COMMON %s
; RUN: opsight-opt -p vectorise --lanes=4 --block=64 --kernel=parting %s | FileCheck-22 --check-prefix=PARTING %s
; RUN: opsight-opt -p vectorise --lanes=8 --block=64 --kernel=column %s | FileCheck-22 --check-prefix=COLUMN %s
target triple = "nvptx64-nvidia-cuda"
; COMMON: [[INDEX:%.*]] = phi i64
; COMMON: [[AT:%.*]] = getelementptr float, ptr %x, i64 [[INDEX]]
; COMMON: store <4 x float> {{.*}}, ptr [[AT]]
define ptx_kernel void @common(ptr %x, i64 %n, i1 %which, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext nneg i32 %lane to i64
  br i1 %which, label %left, label %right
left:
  %a = add i64 %wide, %n
  br label %join
right:
  %b = add i64 %wide, 7
  br label %join
join:
  %index = phi i64 [ %a, %left ], [ %b, %right ]
  %at = getelementptr float, ptr %x, i64 %index
  store float 1.0, ptr %at
  ret void
}
; PARTING: phi <4 x i64>
; PARTING: @llvm.masked.scatter
define ptx_kernel void @parting(ptr %x, i64 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext nneg i32 %lane to i64
  %a = add i64 %wide, %n
  %which = icmp ult i32 %lane, 2
  br i1 %which, label %left, label %join
left:
  %b = add i64 %wide, 7
  br label %join
join:
  %index = phi i64 [ %a, %0 ], [ %b, %left ]
  %at = getelementptr float, ptr %x, i64 %index
  store float 1.0, ptr %at
  ret void
}
; COLUMN-COUNT-8: store <1 x float>
; COLUMN-NOT: scatter
define ptx_kernel void @column(ptr %x, ptr %y, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext nneg i32 %lane to i64
  %from = getelementptr float, ptr %x, i64 %wide
  %a = load float, ptr %from
  %to = getelementptr [33 x float], ptr %y, i64 %wide
  store float %a, ptr %to
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
