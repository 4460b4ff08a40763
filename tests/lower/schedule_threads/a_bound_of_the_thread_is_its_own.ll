; The smaller of two differs between threads where one of the two does.
; RUN: opsight-opt -p schedule_threads --block=64 %s | FileCheck-22 %s
; CHECK: resume:
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %n) {
  %block = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %part = udiv i32 %block, 3
  %bound = call i32 @llvm.smin.i32(i32 %part, i32 %n)
  br label %loop
loop:
  %i = phi i32 [0, %0], [%next, %loop]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %bound
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.smin.i32(i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
