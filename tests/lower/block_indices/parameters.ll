; Thread indices are constants; block indices come from parameters added behind the kernel's own.
; RUN: opsight-opt -p block_indices %s | FileCheck-22 %s
target triple = "nvptx64-nvidia-cuda"

; CHECK: define ptx_kernel void @kernel(ptr %out, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z)
; CHECK-NEXT: store volatile i32 0, ptr %out
; CHECK-NEXT: store volatile i32 1, ptr %out
; CHECK-NEXT: store volatile i32 %opsight.block.y, ptr %out
; CHECK-NEXT: store volatile i32 %opsight.grid.z, ptr %out
define ptx_kernel void @kernel(ptr %out) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store volatile i32 %thread, ptr %out
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  store volatile i32 %threads, ptr %out
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  store volatile i32 %block, ptr %out
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
  store volatile i32 %blocks, ptr %out
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
