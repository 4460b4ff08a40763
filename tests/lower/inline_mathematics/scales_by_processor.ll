; A power of two is one instruction with AVX-512 (vscalef, LLVM's ldexp); elsewhere ldexp would be a call of libm for
; each lane, so it becomes arithmetic, as the scaling inside exp does.
; RUN: opsight-opt --processor x86-64-v4 -p inline_mathematics %s | FileCheck-22 --check-prefix=ONE %s
; RUN: opsight-opt --processor x86-64-v3 -p inline_mathematics %s | FileCheck-22 --check-prefix=NONE %s
target triple = "nvptx64-nvidia-cuda"

; ONE-COUNT-2: call float @llvm.ldexp.f32.i32
; ONE-NOT: call float @llvm.ldexp.f32.i32
; NONE-NOT: call {{.*}}@llvm.ldexp
define ptx_kernel void @kernel(ptr %out, float %x, i32 %n) {
  %a = call float @llvm.exp.f32(float %x)
  %b = call float @llvm.ldexp.f32.i32(float %a, i32 %n)
  store float %b, ptr %out
  ret void
}

declare float @llvm.exp.f32(float)
declare float @llvm.ldexp.f32.i32(float, i32)
