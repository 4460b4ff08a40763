; RUN: opsight-opt -p dynamic_shared %s | FileCheck-22 %s
; CHECK: define ptx_kernel void @k(ptr addrspace(1) %0, ptr addrspace(3) align 16 [[S:%.*]])
; CHECK: store i32 1, ptr addrspace(3) [[S]]
; CHECK: store float 1.000000e+00, ptr addrspace(3) [[S]]
@a = external addrspace(3) global [0 x i32], align 4
@b = external addrspace(3) global [0 x float], align 16
define ptx_kernel void @k(ptr addrspace(1) %0) {
  store i32 1, ptr addrspace(3) @a
  store float 1.0, ptr addrspace(3) @b
  ret void
}
