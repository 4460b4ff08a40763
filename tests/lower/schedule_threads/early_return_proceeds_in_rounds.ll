; RUN: opsight-opt -p schedule_threads --block=64 %s | FileCheck-22 %s
; Every barrier of the result stands outside the kernel's own code, in the loop that all threads go round together.
; CHECK-LABEL: define {{.*}}@k
; CHECK: call spir_func void @_Z7barrierj(i32 3)
; CHECK: resume:
; CHECK-NOT: call {{.*}}nvvm.barrier
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %n, ptr addrspace(1) %o) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %out = icmp sge i32 %t, %n
  br i1 %out, label %exit, label %body
body:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 1, ptr addrspace(1) %o
  br label %exit
exit:
  ret void
}
