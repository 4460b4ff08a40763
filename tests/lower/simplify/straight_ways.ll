; Unoptimised code leaves a loop by one block, with a number that says who goes on and who returns: here each goes its own
; way at once, so that who returns is seen to have gone where it leaves.
; RUN: opsight-opt -p simplify %s | FileCheck-22 %s
; CHECK: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT: [[HIT:%.*]] = icmp eq i32 %lane, %i
; CHECK-NEXT: br i1 [[HIT]], label %[[RETURNS:.*]], label %stays
; CHECK: [[RETURNS]]:
; CHECK-NEXT: store i32 7, ptr %out
; CHECK-NEXT: br label %exit
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %out, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
entry:
  %where.to = alloca i32
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  br label %outer
outer:
  %rounds = phi i32 [ 0, %entry ], [ %more, %goes.on ]
  br label %inner
inner:
  %i = phi i32 [ 0, %outer ], [ %next, %stays ]
  %ends = icmp eq i32 %i, %n
  br i1 %ends, label %falls.through, label %body
body:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %hit = icmp eq i32 %lane, %i
  br i1 %hit, label %returns, label %stays
stays:
  %next = add i32 %i, 1
  br label %inner
returns:
  store i32 7, ptr %out
  store i32 1, ptr %where.to
  br label %leaves
falls.through:
  store i32 2, ptr %where.to
  br label %leaves
leaves:
  %destination = load i32, ptr %where.to
  switch i32 %destination, label %goes.on [ i32 1, label %exit ]
goes.on:
  %more = add i32 %rounds, 1
  %again = icmp ult i32 %more, 9
  br i1 %again, label %outer, label %exit
exit:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
