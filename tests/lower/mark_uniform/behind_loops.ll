; A counter is common to the threads in its loop, but not behind it, where each has that of the round in which it left.
; RUN: opsight-opt -p mark_uniform --lanes=8 --block=16 %s | FileCheck-22 %s
; CHECK: %i.lcssa = phi i32 [ %i, %loop ]
; CHECK-NEXT: %sum = add i32 %i.lcssa, %n{{$}}
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %place = getelementptr i32, ptr %x, i32 %lane
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %next = add i32 %i, 1
  %leaves = icmp uge i32 %i, %lane
  br i1 %leaves, label %exit, label %loop
exit:
  %sum = add i32 %i, %n
  store i32 %sum, ptr %place
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
