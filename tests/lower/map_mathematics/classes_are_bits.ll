; isnan and its kin, as unoptimised code has them, are read from the bits.
; RUN: opsight-opt -p map_mathematics %s | FileCheck-22 %s
; CHECK: [[BITS:%.*]] = bitcast float %x to i32
; CHECK: and i32 [[BITS]], 2147483647
; CHECK: bitcast double %y to i64
; CHECK-NOT: call
; CHECK: ret void
define ptx_kernel void @k(float %x, double %y, ptr addrspace(1) %o) {
  %a = call i1 @llvm.is.fpclass.f32(float %x, i32 3)   ; NaN
  %b = call i1 @llvm.is.fpclass.f64(double %y, i32 512) ; +infinity
  %c = or i1 %a, %b
  store i1 %c, ptr addrspace(1) %o
  ret void
}
