; Whether a number is NaN, or is none, is a comparison; other classes stay questions.
; RUN: opsight-opt -p compare_nans %s | FileCheck-22 %s
; CHECK: %isNan = fcmp uno float %x, %x
; CHECK: %isNumber = fcmp ord half %h, %h
; CHECK: %isInfinite = call i1 @llvm.is.fpclass.f32(float %x, i32 516)
define ptx_kernel void @kernel(ptr %out, float %x, half %h) {
  %isNan = call i1 @llvm.is.fpclass.f32(float %x, i32 3)
  %isNumber = call i1 @llvm.is.fpclass.f16(half %h, i32 1020)
  %isInfinite = call i1 @llvm.is.fpclass.f32(float %x, i32 516)
  store volatile i1 %isNan, ptr %out
  store volatile i1 %isNumber, ptr %out
  store volatile i1 %isInfinite, ptr %out
  ret void
}
declare i1 @llvm.is.fpclass.f32(float, i32 immarg)
declare i1 @llvm.is.fpclass.f16(half, i32 immarg)
