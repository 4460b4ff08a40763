; RUN: opsight-opt -p schedule_threads --block=64 %s | FileCheck-22 %s
; CHECK: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NOT: resume:
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %n) {
  br label %loop
loop:
  %i = phi i32 [0, %0], [%next, %loop]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
