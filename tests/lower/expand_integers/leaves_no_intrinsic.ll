; RUN: opsight-opt -p expand_integers %s | FileCheck-22 %s
; CHECK-LABEL: define {{.*}}@k
; CHECK-NOT: call {{.*}}@llvm.
; CHECK: ret void
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %x, i32 %y, i64 %u, i64 %v, <4 x i32> %w, <2 x float> %f, ptr addrspace(1) %o) {
  %1 = call {i32, i1} @llvm.uadd.with.overflow.i32(i32 %x, i32 %y)
  %2 = extractvalue {i32, i1} %1, 0
  %3 = extractvalue {i32, i1} %1, 1
  %4 = select i1 %3, i32 %2, i32 %x
  store i32 %4, ptr addrspace(1) %o
  %5 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %u, i64 %v)
  store {i64, i1} %5, ptr addrspace(1) %o
  %6 = call {i32, i1} @llvm.umul.with.overflow.i32(i32 %x, i32 %y)
  store {i32, i1} %6, ptr addrspace(1) %o
  %7 = call i32 @llvm.sadd.sat.i32(i32 %x, i32 %y)
  store i32 %7, ptr addrspace(1) %o
  %8 = call i32 @llvm.usub.sat.i32(i32 %x, i32 %y)
  store i32 %8, ptr addrspace(1) %o
  %9 = call i8 @llvm.scmp.i8.i32(i32 %x, i32 %y)
  store i8 %9, ptr addrspace(1) %o
  %10 = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %w)
  store i32 %10, ptr addrspace(1) %o
  %11 = call float @llvm.vector.reduce.fadd.v2f32(float 0.0, <2 x float> %f)
  store float %11, ptr addrspace(1) %o
  ret void
}
