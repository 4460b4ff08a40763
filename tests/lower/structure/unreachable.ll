; What nobody reaches is gone afterwards, also where it leads back to what is reached.
; RUN: opsight-opt -p structure %s | FileCheck-22 %s
; RUN: opsight-opt -p structure -p vectorise --block 32 --lanes 16 %s | FileCheck-22 --check-prefix=WARP %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.laneid()

; CHECK-LABEL: @kernel(
; CHECK-NOT: lost:
; CHECK: store i32 1
; WARP: store i32 1
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  br label %join

lost:
  br label %join

join:
  %value = phi i32 [ 1, %0 ], [ 2, %lost ]
  store i32 %value, ptr addrspace(1) %out
  ret void
}
