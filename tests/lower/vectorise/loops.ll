; Threads that leave a loop before others keep what they had in their own last round; the loop ends when nobody goes on.
; RUN: opsight-opt -p vectorise --lanes=4 --block=64 %s | FileCheck-22 %s
; CHECK: loop:
; CHECK: [[KEPT:%kept.*]] = phi <4 x i32> [ poison, %0 ], [ [[NOW:%.*]], %loop ]
; CHECK: [[MASK:%going.on.*]] = phi <4 x i1> [ splat (i1 true), %0 ], [ [[STAYS:%.*]], %loop ]
; CHECK: [[STAYS]] = select <4 x i1> [[MASK]], <4 x i1> %{{.*}}, <4 x i1> zeroinitializer
; CHECK: [[NOW]] = select <4 x i1> [[MASK]], <4 x i32> %{{.*}}, <4 x i32> [[KEPT]]
; CHECK: br i1 %{{.*}}, label %loop, label %exit
; CHECK: exit:
; CHECK-NEXT: phi <4 x i32> [ [[NOW]], %loop ]
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %lane
  br i1 %again, label %loop, label %exit
exit:
  %rounds = phi i32 [ %next, %loop ]
  %wide = sext i32 %lane to i64
  %at = getelementptr i32, ptr %x, i64 %wide
  store i32 %rounds, ptr %at, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
