; Threads that come to no barrier any more have gone, whatever they still do and whichever branch or switch took them away;
; those that only work apart for a while have not.
; RUN: opsight-opt -p mark_returns %s | FileCheck-22 %s
; CHECK: call void @opsight.retire(i1 %out.of.range)
; CHECK-NEXT: br i1 %out.of.range, label %stores, label %stay
; CHECK: stay:
; CHECK-NEXT: br i1 %out.of.range, label %gone, label %inside
; CHECK: inside:
; CHECK-NEXT: %odd = trunc
; CHECK-NEXT: br i1 %odd, label %works, label %meets
; CHECK: meets:
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !opsight.place [[FIRST:![0-9]+]]
; CHECK: [[THIRD:%.*]] = icmp eq i32 %lane, 3
; CHECK-NEXT: call void @opsight.retire(i1 [[THIRD]])
; CHECK-NEXT: br i1 [[THIRD]], label %exit, label %again
; CHECK: again:
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !opsight.place [[SECOND:![0-9]+]]
; CHECK-NEXT: br i1 %odd, label %late, label %exit
; CHECK: [[FIRST]] = !{i32 0}
; CHECK: [[SECOND]] = !{i32 1}
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %out, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %out.of.range = icmp sge i32 %lane, %n
  br i1 %out.of.range, label %stores, label %inside
stores:
  store i32 1, ptr %out
  br label %exit
inside:
  %odd = trunc i32 %lane to i1
  br i1 %odd, label %works, label %meets
works:
  store i32 2, ptr %out
  br label %meets
meets:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  switch i32 %lane, label %again [ i32 3, label %exit ]
again:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %odd, label %late, label %exit
late:
  store i32 3, ptr %out
  br label %exit
exit:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
