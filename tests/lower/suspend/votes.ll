; A vote's contribution waits in the frame, made so that all kinds are sums; its result comes with the next call.
; RUN: opsight-opt -p suspend %s | FileCheck-22 %s
; CHECK: first:
; CHECK: store i32 %n, ptr
; CHECK: ret i32 1
; CHECK: resume.0:
; CHECK-NEXT: %[[COUNT:.*]] = freeze i32 %opsight.vote
; CHECK: icmp eq i32 %[[COUNT]], 0
; CHECK: ret i32 2
; CHECK: resume.1:
; CHECK: %[[NO:.*]] = freeze i32 %opsight.vote
; CHECK-NEXT: %[[ALL:.*]] = icmp eq i32 %[[NO]], 0
; CHECK-NEXT: zext i1 %[[ALL]] to i32
; CHECK: icmp ne i32 %{{.*}}, 0
; CHECK: ret i32 3
; CHECK: resume.2:
; CHECK: %[[YES:.*]] = freeze i32 %opsight.vote
; CHECK-NEXT: icmp ne i32 %[[YES]], 0
define ptx_kernel void @kernel(ptr %x, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %count = call i32 @opsight.barrier(i32 0, i32 1, i32 %n)
  %all = call i32 @opsight.barrier(i32 1, i32 2, i32 %count)
  %any = call i32 @opsight.barrier(i32 2, i32 3, i32 %all)
  store i32 %any, ptr %x
  ret void
}
declare i32 @opsight.barrier(i32, i32, i32)
