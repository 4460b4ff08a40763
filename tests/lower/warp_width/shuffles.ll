; Where threads ask what others of their warp do, all whom they may ask are one vector: a shuffle among aligned groups of 8
; fits in vectors of 8, one of neighbours in 16 makes them 16, one of halves of the warp makes them 32.
; RUN: opsight-opt -p warp_width -p thread_indices --lanes=8 --block=64 --kernel=near %s | FileCheck-22 --check-prefix=NEAR %s
; RUN: opsight-opt -p warp_width -p thread_indices --lanes=8 --block=64 --kernel=far %s | FileCheck-22 --check-prefix=FAR %s
; RUN: opsight-opt -p warp_width -p thread_indices --lanes=8 --block=64 --kernel=half %s | FileCheck-22 --check-prefix=HALF %s
; RUN: opsight-opt -p warp_width -p thread_indices --lanes=8 --block=64 --kernel=instep %s | FileCheck-22 --check-prefix=STEP %s
target triple = "nvptx64-nvidia-cuda"
; NEAR: void @near({{.*}} i32 range(i32 0, 8) %opsight.warp)
define ptx_kernel void @near(ptr %x, i32 %v) {
  %a = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 4, i32 31)
  %b = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %a, i32 3, i32 6175)
  store i32 %b, ptr %x
  ret void
}
; FAR: void @far({{.*}} i32 range(i32 0, 4) %opsight.warp)
define ptx_kernel void @far(ptr %x, i32 %v) {
  %a = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 8, i32 31)
  store i32 %a, ptr %x
  ret void
}
; HALF: void @half({{.*}} i32 range(i32 0, 2) %opsight.warp)
define ptx_kernel void @half(ptr %x, i32 %v) {
  %a = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 16, i32 31)
  store i32 %a, ptr %x
  ret void
}
; STEP: void @instep({{.*}} i32 range(i32 0, 2) %opsight.warp)
define ptx_kernel void @instep(ptr %x) {
  %v = load volatile i32, ptr %x
  store volatile i32 %v, ptr %x
  ret void
}
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
