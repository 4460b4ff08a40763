; What the warps of a block keep at barriers has to fit the stack.
; RUN: not opsight-opt -p suspend -p warp_range --block=1024 --lanes=16 %s 2>&1 | FileCheck-22 %s
; CHECK: a block of 1024 threads that keeps 8.0 MiB of variables while it waits at barriers
define ptx_kernel void @kernel(ptr %x, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %array = alloca [131072 x i8], align 64
  call i32 @opsight.barrier(i32 0, i32 0, i32 0)
  store ptr %array, ptr %x
  ret void
}
declare i32 @opsight.barrier(i32, i32, i32)
