; What all write and all read needs one barrier; of two in between, one may go. A vote stays, it counts.
; RUN: opsight-opt -p drop_barriers --lanes=16 --block=64 %s | FileCheck-22 %s
; CHECK: store float 1.0
; CHECK: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !opsight.idle
; CHECK: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0){{$}}
; CHECK: load float
; CHECK: call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 true){{$}}
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %out, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 range(i32 0, 4) %opsight.warp) {
  %lane = call range(i32 0, 16) i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %tile = addrspacecast ptr %opsight.static to ptr addrspace(3)
  %own = shl nuw nsw i32 %opsight.warp, 4
  %mine = or disjoint i32 %own, %lane
  %to = zext nneg i32 %mine to i64
  %back = sub nuw nsw i64 63, %to
  %place = getelementptr inbounds float, ptr addrspace(3) %tile, i64 %to
  %other = getelementptr inbounds float, ptr addrspace(3) %tile, i64 %back
  store float 1.0, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %value = load float, ptr addrspace(3) %other
  %count = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 true)
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
