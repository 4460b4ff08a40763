; Four elements a thread, put through a cast, a comparison and a choice, as vectorise parts and joins them; whom somebody watches
; works as it is written.
; RUN: opsight-opt -p vectorise -p delay_deinterleave --lanes=8 --block=16 %s | FileCheck-22 %s
; RUN: opsight-opt -p vectorise -p delay_deinterleave --checked --lanes=8 --block=16 %s | FileCheck-22 --check-prefix=CHECKED %s
; CHECK-COUNT-4: load <8 x i32>, ptr
; CHECK-COUNT-4: sitofp <8 x i32> %{{[0-9]*}} to <8 x float>
; CHECK-COUNT-4: fcmp olt <8 x float> %{{[0-9]*}}, zeroinitializer
; CHECK-COUNT-4: select <8 x i1> %{{[0-9]*}}, <8 x float>
; CHECK: shufflevector <16 x float> %{{[0-9]*}}, <16 x float> %{{[0-9]*}}, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9,
; CHECK-NEXT: store <32 x float>
; CHECKED: shufflevector <8 x i32> %{{[0-9]*}}, <8 x i32> %{{[0-9]*}}, <8 x i32> <i32 0, i32 2,
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, ptr %out, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 range(i32 0, 2) %opsight.warp) {
  %lane = call range(i32 0, 8) i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %cell = zext nneg i32 %lane to i64
  %from = getelementptr inbounds <4 x i32>, ptr %x, i64 %cell
  %to = getelementptr inbounds <4 x float>, ptr %out, i64 %cell
  %four = load <4 x i32>, ptr %from
  %e0 = extractelement <4 x i32> %four, i64 0
  %f0 = sitofp i32 %e0 to float
  %less0 = fcmp olt float %f0, 0.0
  %g0 = select i1 %less0, float 1.0, float %f0
  %e1 = extractelement <4 x i32> %four, i64 1
  %f1 = sitofp i32 %e1 to float
  %less1 = fcmp olt float %f1, 0.0
  %g1 = select i1 %less1, float 1.0, float %f1
  %e2 = extractelement <4 x i32> %four, i64 2
  %f2 = sitofp i32 %e2 to float
  %less2 = fcmp olt float %f2, 0.0
  %g2 = select i1 %less2, float 1.0, float %f2
  %e3 = extractelement <4 x i32> %four, i64 3
  %f3 = sitofp i32 %e3 to float
  %less3 = fcmp olt float %f3, 0.0
  %g3 = select i1 %less3, float 1.0, float %f3
  %v0 = insertelement <4 x float> poison, float %g0, i64 0
  %v1 = insertelement <4 x float> %v0, float %g1, i64 1
  %v2 = insertelement <4 x float> %v1, float %g2, i64 2
  %v3 = insertelement <4 x float> %v2, float %g3, i64 3
  store <4 x float> %v3, ptr %to
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
