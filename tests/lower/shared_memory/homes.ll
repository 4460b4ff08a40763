; Static shared arrays lie one behind the other in the block's memory, also where only a constant expression names them;
; dynamic shared memory is the launch's.
; RUN: opsight-opt -p shared_memory %s | FileCheck-22 %s
; CHECK-NOT: addrspace(3) global
; CHECK: getelementptr inbounds i8, ptr %opsight.static, i64 0
; CHECK: getelementptr inbounds i8, ptr %opsight.static, i64 64
; CHECK-NEXT: [[WIDE:%.*]] = addrspacecast
; CHECK-NEXT: [[DYNAMIC:%.*]] = addrspacecast ptr %opsight.shared to ptr addrspace(3)
; CHECK: getelementptr inbounds double, ptr addrspace(3) [[WIDE]], i64 1
; CHECK: getelementptr float, ptr addrspace(3) [[DYNAMIC]], i64 %i
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [5 x float] undef, align 4
@wide = internal addrspace(3) global [2 x double] undef, align 16
@dynamic = external addrspace(3) global [0 x float], align 16
define ptx_kernel void @kernel(i64 %i, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %a = getelementptr float, ptr addrspace(3) @tile, i64 %i
  store float 1.0, ptr addrspace(3) %a
  store double 2.0, ptr addrspace(3) getelementptr inbounds (double, ptr addrspace(3) @wide, i64 1)
  %c = getelementptr float, ptr addrspace(3) @dynamic, i64 %i
  store float 3.0, ptr addrspace(3) %c
  ret void
}
