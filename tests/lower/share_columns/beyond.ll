; Rows that may lie beyond the array are read when the loop comes to them, not before.
; RUN: opsight-opt -p shared_memory -p share_columns --lanes=16 --block=128 %s | FileCheck-22 %s
; CHECK-NOT: lay.down
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [16 x [33 x float]] poison
define ptx_kernel void @kernel(ptr %out, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 range(i32 0, 8) %opsight.warp) {
  %lane = call range(i32 0, 16) i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = shl nuw nsw i32 %opsight.warp, 4
  %thread = or disjoint i32 %first, %lane
  %cell = zext nneg i32 %thread to i64
  %own = getelementptr inbounds float, ptr addrspace(3) @tile, i64 %cell
  store float 1.0, ptr addrspace(3) %own
  %both = add i32 %n, %lane
  %row = zext i32 %both to i64
  %start = getelementptr inbounds nuw [33 x float], ptr addrspace(3) @tile, i64 %row
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %loop
loop:
  %d = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi float [ 0.0, %0 ], [ %added, %loop ]
  %place = getelementptr inbounds nuw float, ptr addrspace(3) %start, i64 %d
  %read = load <4 x float>, ptr addrspace(3) %place, align 4
  %a = extractelement <4 x float> %read, i64 0
  %b = extractelement <4 x float> %read, i64 3
  %part = fadd float %a, %b
  %added = fadd float %sum, %part
  %next = add nuw nsw i64 %d, 4
  %more = icmp ult i64 %next, 32
  br i1 %more, label %loop, label %end
end:
  %to = getelementptr inbounds float, ptr %out, i64 %cell
  store float %added, ptr %to
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
