; Division has a result for every operand: by zero all ones, or the dividend as the rest, and the least by -1 is the least.
; Threads that divide different numbers of 32 bits do it in double precision. A constant divisor is left to LLVM.
; RUN: opsight-opt -p total_division %s | FileCheck-22 %s
; CHECK: [[BYZERO:%.*]] = icmp eq i32 [[DIVISOR:%.*]], 0
; CHECK-NEXT: [[SAFE:%.*]] = select i1 [[BYZERO]], i32 1, i32 [[DIVISOR]]
; CHECK-NEXT: icmp eq i32 %{{.*}}, -2147483648
; CHECK-NEXT: icmp eq i32 [[DIVISOR]], -1
; CHECK-NEXT: [[WRAPS:%.*]] = and i1
; CHECK-NEXT: [[SAFER:%.*]] = select i1 [[WRAPS]], i32 1, i32 [[SAFE]]
; CHECK-NEXT: [[QUOTIENT:%.*]] = sdiv i32 %{{.*}}, [[SAFER]]
; CHECK-NEXT: select i1 [[BYZERO]], i32 -1, i32 [[QUOTIENT]]
; CHECK: [[REAL:%.*]] = fdiv double
; CHECK-NEXT: [[OWN:%.*]] = fptoui double [[REAL]] to i32
; CHECK-NEXT: select i1 %{{.*}}, i32 -1, i32 [[OWN]]
; CHECK: [[WIDE:%.*]] = sdiv i64 [[DIVIDEND:%.*]], [[BY:%.*]]
; CHECK-NEXT: [[BACK:%.*]] = mul i64 [[WIDE]], [[BY]]
; CHECK-NEXT: [[REST:%.*]] = sub i64 [[DIVIDEND]], [[BACK]]
; CHECK-NEXT: select i1 %{{.*}}, i64 [[DIVIDEND]], i64 [[REST]]
; CHECK: udiv i32 %lane, 10
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %out, i32 %a, i32 %b, i64 %c, i64 %d, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %common = sdiv i32 %a, %b
  store volatile i32 %common, ptr %out
  %own = udiv i32 %a, %lane
  store volatile i32 %own, ptr %out
  %rest = srem i64 %c, %d
  store volatile i64 %rest, ptr %out
  %constant = udiv i32 %lane, 10
  store volatile i32 %constant, ptr %out
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
