; RUN: opsight-opt --no-half -p soft_half %s | FileCheck-22 %s
; CHECK-LABEL: define ptx_kernel void @k
; CHECK-NEXT: xor i16 %a, -32768
; CHECK-NEXT: and i16 {{%[0-9]+}}, 32767
; CHECK-NEXT: and i16 {{%[0-9]+}}, 32767
; CHECK-NEXT: and i16 %b, -32768
; CHECK-NEXT: or i16
; CHECK-NEXT: store i16
; CHECK: and i16 %b, 32767
; CHECK: icmp ule i16 {{%[0-9]+}}, 511
; CHECK-NOT: float
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(half %a, half %b, ptr addrspace(1) %o) {
  %n = fneg half %a
  %m = call half @llvm.fabs.f16(half %n)
  %c = call half @llvm.copysign.f16(half %m, half %b)
  store half %c, ptr addrspace(1) %o
  %q = call i1 @llvm.is.fpclass.f16(half %b, i32 2) ; a quiet NaN
  store i1 %q, ptr addrspace(1) %o
  ret void
}
