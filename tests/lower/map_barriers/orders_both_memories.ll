; RUN: opsight-opt -p map_barriers %s | FileCheck-22 %s
; A barrier orders shared and global memory: flags 1 | 2.
; CHECK: call spir_func void @_Z7barrierj(i32 3)
; CHECK-NOT: call {{.*}}nvvm
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k() {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}
