; Checks are compiled for each site, so they become part of the kernel; what they call stays a function of its own.
; RUN: opsight-opt -p retarget -p link_publish --checked --processor x86-64-v3 %s | FileCheck-22 %s
; CHECK-DAG: define internal void @opsight_check_row32({{.*}} #[[A:[0-9]+]]
; CHECK-DAG: define internal void @opsight_look_lanes({{.*}} #[[B:[0-9]+]]
; CHECK-NOT: define {{.*}} @opsight_check_row16
; CHECK-DAG: attributes #[[A]] = {{.*}}alwaysinline{{.*}}"target-cpu"="x86-64-v3"
; CHECK-DAG: attributes #[[B]] = {{.*}}noinline{{.*}}"target-cpu"="x86-64-v3"
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x) {
  call void @opsight_check_row32(ptr %x, i32 0, i64 0, i64 0, i32 -1, i32 0, i32 0, i32 264, i32 4, i32 4)
  call void @opsight_look_lanes(ptr %x, i32 0, i64 0, ptr %x, i32 -1, i32 0, i32 0, i32 8, i32 4, i32 4)
  ret void
}
declare void @opsight_check_row32(ptr, i32, i64, i64, i32, i32, i32, i32, i32, i32)
declare void @opsight_look_lanes(ptr, i32, i64, ptr, i32, i32, i32, i32, i32, i32)
