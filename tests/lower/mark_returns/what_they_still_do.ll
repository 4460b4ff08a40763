; What threads do in memory on their way out is done before the others come to a barrier, of an end that all come by a copy
; for them. Who only returns, and whom all threads follow, needs none.
; RUN: opsight-opt -p mark_returns %s | FileCheck-22 %s
; CHECK: br i1 %odd, label %reads, label %stay
; CHECK: reads:
; CHECK-NEXT: %early = load i32
; CHECK-NEXT: br label %end.gone
; CHECK: stay:
; CHECK-NEXT: br i1 %odd, label %gone, label %meets
; CHECK: meets:
; CHECK-NEXT: call void @llvm.nvvm.barrier
; CHECK: br i1 %third, label %exit, label %again
; CHECK: br i1 %same, label %last, label %more
; CHECK: end:
; CHECK-NEXT: %value = phi i32 [ 8, %last ], [ 7, %more ]
; CHECK: end.gone:
; CHECK-NEXT: %[[EARLY:.*]] = phi i32 [ %early, %reads ]
; CHECK-NEXT: store i32 %[[EARLY]], ptr %out
; CHECK: br label %stay
; CHECK: gone:
; CHECK-NEXT: ret void
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %out, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %odd = trunc i32 %lane to i1
  %third = icmp eq i32 %lane, 3
  %same = icmp eq i32 %n, 3
  br i1 %odd, label %reads, label %meets
reads:
  %early = load i32, ptr %opsight.static
  br label %end
meets:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %third, label %exit, label %again
again:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %same, label %last, label %more
last:
  store i32 3, ptr %out
  br label %end
more:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
end:
  %value = phi i32 [ %early, %reads ], [ 7, %more ], [ 8, %last ]
  store i32 %value, ptr %out
  br label %exit
exit:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
