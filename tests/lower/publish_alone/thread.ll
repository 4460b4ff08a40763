; A block of one thread publishes as lane 0 of warp 0, block by block.
; RUN: opsight-opt -p watch -p block_indices -p publish_alone --watched --block=1 %s | FileCheck-22 %s
; CHECK: [[ADDRESSES:%.*]] = alloca [32 x i64]
; CHECK: %v = load
; CHECK: store i64 %{{.*}}, ptr [[ADDRESSES]]
; CHECK: call void @opsight_publish_access(ptr %opsight.watch, i32 1, i32 0, i64 %{{.*}}, i32 1, ptr [[ADDRESSES]], ptr %{{.*}})
; CHECK: store i32 %v
; CHECK-NOT: call void @opsight.watch.
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, ptr %y) {
  %v = load i32, ptr %x
  store i32 %v, ptr %y
  ret void
}
