; A number counts bytes of static memory from 0 and of dynamic memory from behind it, aligned for swizzles. Which of the two
; is meant is decided at run time only where the array cannot be seen.
; RUN: opsight-opt -p shared_memory %s | FileCheck-22 %s
; CHECK: [[STATIC:%.*]] = ptrtoint ptr %opsight.static to i64
; CHECK: sub i64 {{.*}}, [[STATIC]]
; CHECK: [[DYNAMIC:%.*]] = ptrtoint ptr %opsight.shared to i64
; CHECK: [[IN:%.*]] = sub i64 {{.*}}, [[DYNAMIC]]
; CHECK-NEXT: add i64 [[IN]], 1024
; CHECK: [[EITHER:%.*]] = icmp ult i64 [[OFFSET:%[0-9]+]], 20
; CHECK-NEXT: select i1 [[EITHER]], i64 [[OFFSET]]
; CHECK: [[PLACE:%.*]] = zext i32 %n to i64
; CHECK: [[FIRST:%.*]] = icmp ult i64 [[PLACE]], 1024
; CHECK: select i1 [[FIRST]]
; CHECK-NOT: @__opsight_shared
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [5 x float] undef, align 4
@dynamic = external addrspace(3) global [0 x float], align 16
declare i32 @__opsight_shared_number(ptr addrspace(3))
declare ptr addrspace(3) @__opsight_shared_pointer(i32)
define ptx_kernel void @kernel(ptr addrspace(3) %p, i32 %n, ptr %out, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %a = call i32 @__opsight_shared_number(ptr addrspace(3) @tile)
  store volatile i32 %a, ptr %out
  %b = call i32 @__opsight_shared_number(ptr addrspace(3) @dynamic)
  store volatile i32 %b, ptr %out
  %c = call i32 @__opsight_shared_number(ptr addrspace(3) %p)
  store volatile i32 %c, ptr %out
  %q = call ptr addrspace(3) @__opsight_shared_pointer(i32 %n)
  store volatile i32 1, ptr addrspace(3) %q
  ret void
}
