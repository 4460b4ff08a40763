; With vectors of 16 threads, what depends on the thread's number in steps of 16 or more is the same for all of one.
; RUN: opsight-opt -p mark_uniform --lanes=16 --block=128 %s | FileCheck-22 %s
; CHECK: %row = lshr i32 %thread, 5, !opsight.uniform
; CHECK: %aligned = icmp ult i32 %thread, 96, !opsight.uniform
; CHECK: %any = icmp ult i32 %thread, %n{{$}}
; CHECK: %small = lshr i32 %thread, 3{{$}}
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %out, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %base = shl i32 %opsight.warp, 4
  %thread = or disjoint i32 %base, %lane
  %row = lshr i32 %thread, 5
  store volatile i32 %row, ptr %out
  %aligned = icmp ult i32 %thread, 96
  store volatile i1 %aligned, ptr %out
  %any = icmp ult i32 %thread, %n
  store volatile i1 %any, ptr %out
  %small = lshr i32 %thread, 3
  store volatile i32 %small, ptr %out
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
