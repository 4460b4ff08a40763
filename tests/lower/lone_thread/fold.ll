; A block of one thread: barriers vanish, votes and shuffles answer for the only lane.
; RUN: opsight-opt -p lone_thread %s | FileCheck-22 %s
target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @kernel
; CHECK-NOT: call
; CHECK: [[WORD:%.*]] = zext i1 %vote to i32
; CHECK-NEXT: store volatile i32 [[WORD]], ptr %out
; CHECK-NEXT: store volatile i32 %value, ptr %out
; CHECK-NEXT: store volatile i32 1, ptr %out
; CHECK-NEXT: ret void
define ptx_kernel void @kernel(ptr %out, i32 %value, i1 %vote) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %count = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %vote)
  store volatile i32 %count, ptr %out
  %other = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %value, i32 1, i32 31)
  store volatile i32 %other, ptr %out
  %active = call i32 @llvm.nvvm.activemask()
  store volatile i32 %active, ptr %out
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.activemask()
declare void @llvm.nvvm.bar.warp.sync(i32)
