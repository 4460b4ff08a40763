; Eight rows of sixteen bytes behind each other are the lanes' words of a matrix; a product is a chain of fused steps on all
; lanes, whose factors are permutations, from the sum that it starts with.
; RUN: opsight-opt -p vectorise --block 32 --lanes 32 %s | FileCheck-22 %s
; CHECK-COUNT-8: load <4 x i32>, ptr addrspace(3) {{.*}}, align 16
; CHECK: [[WORDS:%.*]] = shufflevector <16 x i32>
; CHECK-NOT: gather
; CHECK-COUNT-32: call <32 x float> @llvm.fma.v32f32
; CHECK-NOT: llvm.fma
; CHECK-NOT: @__opsight
; CHECK: ret void
target triple = "nvptx64-nvidia-cuda"
declare { i32 } @__opsight_ldmatrix_x1(ptr addrspace(3)) convergent
declare { float, float, float, float } @__opsight_mma_k8_f16_f16_f32(i32, i32, i32, float, float, float, float) convergent
define ptx_kernel void @kernel(ptr %out, ptr addrspace(3) %rows, i32 %opsight.warp) {
  %lane = call range(i32 0, 32) i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext i32 %lane to i64
  %row = getelementptr [16 x i8], ptr addrspace(3) %rows, i64 %wide
  %matrix = call { i32 } @__opsight_ldmatrix_x1(ptr addrspace(3) %row) convergent
  %word = extractvalue { i32 } %matrix, 0
  %sum = call { float, float, float, float } @__opsight_mma_k8_f16_f16_f32(i32 %word, i32 %word, i32 %word, float 1.0, float 1.0, float 1.0, float 1.0) convergent
  %first = extractvalue { float, float, float, float } %sum, 3
  %place = getelementptr float, ptr %out, i64 %wide
  store float %first, ptr %place
  ret void
}
