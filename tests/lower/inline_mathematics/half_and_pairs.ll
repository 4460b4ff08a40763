; Half is computed in float; frexp's pair is put together of its two functions.
; RUN: opsight-opt -p inline_mathematics %s | FileCheck-22 %s
target triple = "nvptx64-nvidia-cuda"

; CHECK: fpext half %h to float
; CHECK-NOT: @llvm.exp.f16
; CHECK: fptrunc float {{.*}} to half
; CHECK-NOT: call {{.*}} @llvm.frexp
; CHECK: insertvalue { float, i32 }
; CHECK: insertvalue { float, i32 }
define ptx_kernel void @kernel(ptr %out, half %h, float %x) {
  %a = call half @llvm.exp.f16(half %h)
  store half %a, ptr %out
  %b = call { float, i32 } @llvm.frexp.f32.i32(float %x)
  %c = extractvalue { float, i32 } %b, 0
  %d = extractvalue { float, i32 } %b, 1
  store float %c, ptr %out
  store i32 %d, ptr %out
  ret void
}

declare half @llvm.exp.f16(half)
declare { float, i32 } @llvm.frexp.f32.i32(float)
