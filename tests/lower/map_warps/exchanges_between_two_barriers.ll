; RUN: opsight-opt -p map_warps --block=48 %s | FileCheck-22 %s
; CHECK: @opsight.warp_words = internal addrspace(3) global [64 x i32]
; CHECK: store i32 %v
; CHECK: call spir_func void @_Z7barrierj(i32 3)
; CHECK: load i32, ptr addrspace(3)
; CHECK: call spir_func void @_Z7barrierj(i32 3)
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %v, ptr addrspace(1) %o) {
  %r = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 16, i32 31)
  store i32 %r, ptr addrspace(1) %o
  ret void
}
