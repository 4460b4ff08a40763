; RUN: opsight-opt -p separate_tails --block=64 %s | FileCheck-22 %s
; The store is there twice, once for the way with the barrier; that way ends in one barrier that both its branches reach.
; CHECK-LABEL: define {{.*}}@k
; CHECK: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK: store i32 1
; CHECK: store i32 1
; CHECK: closing:
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT: ret void
; CHECK-NOT: closing
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %n, i32 %rows, ptr addrspace(1) %o) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp slt i32 %t, %rows
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %loop, label %join
loop:
  %i = phi i32 [0, %0], [%next, %loop]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %join
join:
  br i1 %inside, label %keep, label %exit
keep:
  store i32 1, ptr addrspace(1) %o
  br label %exit
exit:
  ret void
}
