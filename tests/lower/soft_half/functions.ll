; Functions are evaluated in float and rounded; an operation without a form in float is told by name.
; RUN: opsight-opt --no-half -p soft_half --kernel k %s | FileCheck-22 %s
; RUN: not opsight-opt --no-half -p soft_half --kernel foreign %s 2>&1 | FileCheck-22 --check-prefix=FOREIGN %s
; CHECK-LABEL: define ptx_kernel void @k
; CHECK: call float @llvm.exp.f32(float
; CHECK: call float @llvm.maxnum.f32(float {{.*}}, float {{.*}})
; CHECK: frem float
; CHECK: [[PAIR:%.*]] = call { float, i32 } @llvm.frexp.f32.i32(float
; CHECK: extractvalue { float, i32 } [[PAIR]], 0
; CHECK: [[MADE:%.*]] = insertvalue { i16, i32 } poison, i16
; CHECK: call float @llvm.ldexp.f32.i32(float {{.*}}, i32
; FOREIGN: 'atomicrmw' in half precision on a card that has none
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(half %a, half %b, ptr addrspace(1) %o) {
  %e = call half @llvm.exp.f16(half %a)
  %m = call half @llvm.maxnum.f16(half %e, half %b)
  %r = frem half %m, %a
  %parts = call { half, i32 } @llvm.frexp.f16.i32(half %r)
  %fraction = extractvalue { half, i32 } %parts, 0
  %exponent = extractvalue { half, i32 } %parts, 1
  %l = call half @llvm.ldexp.f16.i32(half %fraction, i32 %exponent)
  store half %l, ptr addrspace(1) %o
  ret void
}
define ptx_kernel void @foreign(half %a, ptr addrspace(1) %o) {
  %e = atomicrmw fadd ptr addrspace(1) %o, half %a monotonic
  ret void
}
