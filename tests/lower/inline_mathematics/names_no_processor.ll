; The library's own target, processor and flags stay behind: the module is still CUDA's.
; RUN: opsight-opt -p inline_mathematics %s | FileCheck-22 %s
target datalayout = "e-i64:64-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: target triple = "nvptx64-nvidia-cuda"
; CHECK-NOT: target-cpu
; CHECK-NOT: target-features
; CHECK-NOT: x86
define ptx_kernel void @kernel(ptr %out, float %x) {
  %a = call float @llvm.log.f32(float %x)
  store float %a, ptr %out
  ret void
}

declare float @llvm.log.f32(float)
