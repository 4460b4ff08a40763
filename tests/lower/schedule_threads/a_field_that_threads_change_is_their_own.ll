; RUN: opsight-opt -p schedule_threads --block=64 %s | FileCheck-22 %s
; CHECK-LABEL: define {{.*}}@k
; CHECK: resume:
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(5) byval({i64, i32}) align 8 %p, ptr addrspace(1) %o) {
  %address = getelementptr i8, ptr addrspace(5) %p, i64 8
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 %t, ptr addrspace(5) %address
  %n = load i32, ptr addrspace(5) %address
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
