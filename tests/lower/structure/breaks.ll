; A loop that threads leave in two places gets one end, at its bottom, and behind it a branch that tells which way they left.
; RUN: opsight-opt -p structure --lanes=16 --block=64 %s | FileCheck-22 %s
; CHECK: loop:
; CHECK: br i1 %{{.*}}, label %more, label %[[BOTTOM:.*]]
; CHECK: more:
; CHECK: br label %[[BOTTOM]]
; CHECK: stop:
; CHECK-NEXT: store i32 %i.lcssa
; CHECK: [[BOTTOM]]:
; CHECK: [[FOUND:%.*]] = phi i1 [ false, %more ], [ true, %loop ]
; CHECK: [[LEAVES:%.*]] = phi i1
; CHECK-NEXT: br i1 [[LEAVES]], label %[[BEHIND:.*]], label %loop
; CHECK: [[BEHIND]]:
; CHECK: phi i1 [ [[FOUND]], %[[BOTTOM]] ]
; CHECK: %i.lcssa = phi i32 [ %i, %[[BOTTOM]] ]
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %more ]
  %found = icmp eq i32 %i, %lane
  br i1 %found, label %stop, label %more
more:
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %exit
stop:
  store i32 %i, ptr %x
  br label %exit
exit:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
