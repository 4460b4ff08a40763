; Without barriers a block is a loop over its warps: 70 threads by 16 are five.
; RUN: opsight-opt -p warp_range --block=70 --lanes=16 %s | FileCheck-22 %s
; CHECK: define internal {{.*}}void @opsight.block(ptr %x,
; CHECK: define {{.*}}void @kernel(ptr %launch, i64 %begin, i64 %end, ptr %shared)
; CHECK: alloca [1 x i8], align 128
; CHECK: each:
; CHECK: warp:
; CHECK: call void @opsight.block({{.*}}, ptr %shared, ptr %static, i32 %warp{{[0-9]*}})
; CHECK: next.warp:
; CHECK: icmp uge i32 %{{.*}}, 5
; CHECK: icmp ult i32 %{{.*}}, 5
define ptx_kernel void @kernel(ptr %x, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  store i32 %opsight.warp, ptr %x
  ret void
}
