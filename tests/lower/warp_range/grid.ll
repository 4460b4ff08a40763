; A kernel that waits for the whole grid has its blocks in memory that the launch brings: frames, static arrays, and behind
; them the dynamic ones. Every block of the range runs in each phase; then the range's call meets the others.
; RUN: opsight-opt -p suspend -p warp_range --block=64 --lanes=16 %s | FileCheck-22 %s
; RUN: opsight-opt -p suspend -p warp_range --block=64 --lanes=16 %s | FileCheck-22 %s --check-prefix=STACK
; STACK-NOT: alloca
; CHECK: define {{.*}}void @kernel(ptr %launch, i64 %begin, i64 %end, ptr %shared)
; CHECK-DAG: %stride = load i64
; CHECK-DAG: %count = sub i64 %end, %begin
; CHECK-DAG: %[[FAR:.*]] = mul i64 %position, %stride
; CHECK-DAG: getelementptr inbounds i8, ptr %shared, i64 %[[FAR]]
; CHECK-DAG: %[[MARK:.*]] = and i32 %{{.*}}, 1073741824
; CHECK-DAG: %[[WAITS:.*]] = icmp ne i32 %[[MARK]], 0
; CHECK-DAG: and i1 %[[WAITS]], %
; CHECK-DAG: br i1 %{{.*}}, label %missed, label %complete
; CHECK-DAG: %[[OTHERS:.*]] = call i64 %meet(ptr %meeting, i64
; CHECK-DAG: %all = phi i64 {{.*}}[ %[[OTHERS]], %ask ]
; CHECK-DAG: br i1 %{{.*}}, label %done{{[0-9]*}}, label %next.phase
define ptx_kernel void @kernel(ptr %x, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  call i32 @opsight.barrier(i32 0, i32 4, i32 0)
  store i32 %opsight.warp, ptr %x
  ret void
}
declare i32 @opsight.barrier(i32, i32, i32)
