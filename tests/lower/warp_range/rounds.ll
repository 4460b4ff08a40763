; With barriers every warp that is not finished runs until it returns, round by round; warps that wait at different
; places, and threads of a warp that do not meet, end the range with a message.
; RUN: opsight-opt -p suspend -p warp_range --block=64 --lanes=16 %s | FileCheck-22 %s
; CHECK: define {{.*}}void @kernel(
; CHECK: %frames = alloca [256 x i8], align 64
; CHECK: %message = load ptr
; CHECK: br i1 %{{.*}}, label %go, label %gone
; CHECK: each:
; CHECK: run:
; CHECK-NEXT: %why = call i32 @opsight.block(
; CHECK-NEXT: icmp eq i32 %why, 0
; CHECK: returned:
; CHECK-NEXT: icmp slt i32 %why, 0
; CHECK: waits:
; CHECK: icmp eq i32 %{{.*}}, %why
; CHECK: ends:
; CHECK-NEXT: store i32 -1
; CHECK: strayed:
; CHECK: atomicrmw add ptr %message
; CHECK: parted:
; CHECK: atomicrmw add ptr %message
; CHECK: icmp eq i32 %{{.*}}, -1
; CHECK-NEXT: br i1 %{{.*}}, label %next.warp{{[0-9]*}}, label %run
; CHECK: phi i32 {{.*}}[ %why, %waits ]
define ptx_kernel void @kernel(ptr %x, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  call i32 @opsight.barrier(i32 0, i32 0, i32 0)
  store i32 %opsight.warp, ptr %x
  ret void
}
declare i32 @opsight.barrier(i32, i32, i32)
