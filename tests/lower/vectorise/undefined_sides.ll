; Where those who went through a region need no value, it still holds for those who jumped over it.
; RUN: opsight-opt -p vectorise --lanes=4 --block=64 %s | FileCheck-22 %s
; CHECK: join:
; CHECK-NEXT: %r = phi i32 [ %common, %then ], [ %common, %0 ]
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %common = load i32, ptr %x
  %odd = trunc i32 %lane to i1
  br i1 %odd, label %then, label %join
then:
  store i32 1, ptr %x
  br label %join
join:
  %r = phi i32 [ %common, %0 ], [ undef, %then ]
  %wide = sext i32 %lane to i64
  %at = getelementptr i32, ptr %x, i64 %wide
  store i32 %r, ptr %at, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
