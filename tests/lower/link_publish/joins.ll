; Only the functions that the kernel calls join it, each once, never inlined, for the kernel's processor.
; RUN: opsight-opt -p retarget -p link_publish --watched --processor x86-64-v3 %s | FileCheck-22 %s
; CHECK: define internal void @opsight_publish_point({{.*}} #[[A:[0-9]+]]
; CHECK-NOT: define {{.*}} @opsight_publish_array
; CHECK: attributes #[[A]] = {{.*}}noinline{{.*}}"target-cpu"="x86-64-v3"
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x) {
  call void @opsight_publish_point(ptr %x, i32 1, i32 0, i32 0, i64 0, i32 1, i32 0)
  ret void
}
declare void @opsight_publish_point(ptr, i32, i32, i32, i64, i32, i32)
