; Vectors that read the row that they have themselves written need no barrier in between, nor before they write it again,
; whatever the columns; the watched kernel tells of both.
; RUN: opsight-opt -p drop_barriers --lanes=16 --block=64 %s | FileCheck-22 %s
; RUN: opsight-opt -p drop_barriers --lanes=16 --block=64 --checked %s | FileCheck-22 --check-prefix=WATCHED %s
; CHECK-COUNT-2: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !opsight.idle
; WATCHED-NOT: opsight.idle
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %out, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 range(i32 0, 4) %opsight.warp) {
  %lane = call range(i32 0, 16) i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %tile = addrspacecast ptr %opsight.static to ptr addrspace(3)
  %own = shl nuw nsw i32 %opsight.warp, 4
  %mine = or disjoint i32 %own, %lane
  %to = zext nneg i32 %mine to i64
  %place = getelementptr inbounds float, ptr addrspace(3) %tile, i64 %to
  br label %rounds
rounds:
  %round = phi i32 [ 0, %0 ], [ %next.round, %behind ]
  store float 1.0, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %row
row:
  %column = phi i32 [ 0, %rounds ], [ %next, %row ]
  %index = add nuw nsw i32 %own, %column
  %from = zext nneg i32 %index to i64
  %read = getelementptr inbounds float, ptr addrspace(3) %tile, i64 %from
  %value = load float, ptr addrspace(3) %read
  %next = add nuw nsw i32 %column, 1
  %more = icmp ult i32 %next, 16
  br i1 %more, label %row, label %behind
behind:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next.round = add i32 %round, 1
  %again = icmp slt i32 %next.round, %n
  br i1 %again, label %rounds, label %end
end:
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
