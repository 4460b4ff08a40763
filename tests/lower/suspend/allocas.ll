; Arrays outlive the call in the frame, at an address that every call computes anew; the frame has their alignment.
; RUN: opsight-opt -p suspend %s | FileCheck-22 %s
; CHECK: ptr noalias align 128 dereferenceable(384) %opsight.frame
; CHECK-NOT: alloca
; CHECK: dispatch:
; CHECK-NEXT: %array = getelementptr inbounds i8, ptr %opsight.frame, i64 128
; CHECK-NEXT: load i32, ptr %opsight.frame
; CHECK-NOT: lifetime
; CHECK: resume.0:
; CHECK: load i32, ptr %array
define ptx_kernel void @kernel(ptr %x, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %array = alloca [40 x i32], align 128
  call void @llvm.lifetime.start.p0(ptr %array)
  store i32 7, ptr %array
  call i32 @opsight.barrier(i32 0, i32 0, i32 0)
  %v = load i32, ptr %array
  store i32 %v, ptr %x
  ret void
}
declare i32 @opsight.barrier(i32, i32, i32)
