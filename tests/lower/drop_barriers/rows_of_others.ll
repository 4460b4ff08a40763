; One element further the row is another vector's: the barrier stays, and so does that before the next write.
; RUN: opsight-opt -p drop_barriers --lanes=16 --block=64 %s | FileCheck-22 %s
; CHECK-NOT: opsight.idle
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %out, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 range(i32 0, 4) %opsight.warp) {
  %lane = call range(i32 0, 16) i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %tile = addrspacecast ptr %opsight.static to ptr addrspace(3)
  %own = shl nuw nsw i32 %opsight.warp, 4
  %mine = or disjoint i32 %own, %lane
  %to = zext nneg i32 %mine to i64
  %place = getelementptr inbounds float, ptr addrspace(3) %tile, i64 %to
  %next = getelementptr inbounds i8, ptr addrspace(3) %place, i64 4
  br label %rounds
rounds:
  %round = phi i32 [ 0, %0 ], [ %next.round, %rounds ]
  store float 1.0, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %value = load float, ptr addrspace(3) %next
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
