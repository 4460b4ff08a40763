; RUN: opsight-opt -p schedule_threads --block=64 %s | FileCheck-22 %s
; The rounds end when nobody lives or nobody goes on. Behind them a thread that still stands at the shuffle marks the
; message buffer, a parameter that the kernel had not, and the first to do so writes a record.
; CHECK: define ptx_kernel void @k(i32 %v, ptr addrspace(1) %o, ptr addrspace(1) [[BUFFER:%[0-9]+]])
; CHECK: [[MARK:%[0-9]+]] = getelementptr inbounds i8, ptr addrspace(1) [[BUFFER]], i64 12
; CHECK: [[BEFORE:%[0-9]+]] = atomicrmw xchg ptr addrspace(1) [[MARK]], i32 {{[0-9]+}} monotonic
; CHECK: icmp eq i32 [[BEFORE]], 0
; CHECK: atomicrmw add ptr addrspace(1) [[BUFFER]]
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %v, ptr addrspace(1) %o) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp ult i32 %t, 16
  br i1 %low, label %some, label %end
some:
  %r = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 8, i32 31)
  store i32 %r, ptr addrspace(1) %o
  br label %end
end:
  ret void
}
