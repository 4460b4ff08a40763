; Elementary functions become straight code: no call of a function, no branch, nothing of the library left behind. What
; the library lacks stays as it was.
; RUN: opsight-opt -p inline_mathematics %s | FileCheck-22 %s
target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @kernel
; CHECK-NOT: br {{i1|label}}
; CHECK-NOT: call {{.*}}@opsight_
; CHECK-NOT: @llvm.exp.
; CHECK-NOT: @llvm.sin.
; CHECK-NOT: @llvm.pow.
; CHECK-NOT: @__nv_erff
; CHECK-NOT: frem
; CHECK: call double @llvm.sin.f64
; CHECK: call float @__nv_j0f
; CHECK: ret void
; CHECK-NOT: define {{.*}}@opsight_
define ptx_kernel void @kernel(ptr %out, float %x, float %y, double %d) {
  %a = call float @llvm.exp.f32(float %x)
  %b = call float @llvm.sin.f32(float %a)
  %c = call float @llvm.pow.f32(float %b, float %y)
  %e = call float @__nv_erff(float %c)
  %f = frem float %e, %y
  store float %f, ptr %out
  %g = call double @llvm.exp.f64(double %d)
  %h = call double @llvm.sin.f64(double %g)
  store double %h, ptr %out
  %i = call float @__nv_j0f(float %f)
  store float %i, ptr %out
  ret void
}

declare float @llvm.exp.f32(float)
declare float @llvm.sin.f32(float)
declare float @llvm.pow.f32(float, float)
declare float @__nv_erff(float)
declare float @__nv_j0f(float)
declare double @llvm.exp.f64(double)
declare double @llvm.sin.f64(double)
