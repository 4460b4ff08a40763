; What a watched thread says of itself is published for all lanes at once, under their mask.
; RUN: opsight-opt -p vectorise --watched --lanes=32 --block=48 %s | FileCheck-22 %s
; CHECK: [[WORDS:%.*]] = alloca [32 x i64]
; CHECK: [[THERE:%.*]] = bitcast <32 x i1> %existing to i32
; CHECK: store <32 x i64> %{{.*}}, ptr [[WORDS]], align 8
; CHECK: call void @opsight_publish_access(ptr %opsight.watch, i32 7, i32 %opsight.warp, i64 %{{.*}}, i32 %{{.*}}, ptr [[WORDS]], ptr null)
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, ptr %opsight.watch, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %place = getelementptr i32, ptr %x, i32 %lane
  %address = ptrtoint ptr %place to i64
  call void @opsight.watch.access(i32 7, i64 %address)
  %own = load i32, ptr %place
  store i32 %own, ptr %place
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @opsight.watch.access(i32, i64)
