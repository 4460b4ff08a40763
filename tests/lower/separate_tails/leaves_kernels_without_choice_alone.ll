; RUN: opsight-opt -p separate_tails --block=64 %s | FileCheck-22 %s
; CHECK-LABEL: define {{.*}}@k
; CHECK-COUNT-1: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NOT: {{closing|after|alloca}}
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %n, ptr addrspace(1) %o) {
  br label %loop
loop:
  %i = phi i32 [0, %0], [%next, %loop]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  store i32 %next, ptr addrspace(1) %o
  ret void
}
