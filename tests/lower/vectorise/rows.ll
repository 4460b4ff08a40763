; Four elements of each thread's row: a load a thread and a transposition where the rows lie apart, whole vectors parted
; into even and odd elements, twice, where they lie side by side.
; RUN: opsight-opt -p vectorise --lanes=8 --block=64 --kernel=apart %s | FileCheck-22 --check-prefix=APART %s
; RUN: opsight-opt -p vectorise --lanes=8 --block=64 --kernel=together %s | FileCheck-22 --check-prefix=TOGETHER %s
target triple = "nvptx64-nvidia-cuda"
; APART-COUNT-8: load <4 x float>, ptr %{{.*}}, align 4
; APART: [[LOW:%.*]] = shufflevector <8 x float> [[A:%.*]], <8 x float> [[B:%.*]], <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
; APART: [[LATER:%.*]] = shufflevector <8 x float> %{{.*}}, <8 x float> %{{.*}}, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
; APART: shufflevector <8 x float> [[LOW]], <8 x float> [[LATER]], <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
; APART-NOT: gather
define ptx_kernel void @apart(ptr %x, ptr %y, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext nneg i32 %lane to i64
  %row = getelementptr [65 x float], ptr %x, i64 %wide
  %all = load <4 x float>, ptr %row, align 4
  %a = extractelement <4 x float> %all, i64 0
  %b = extractelement <4 x float> %all, i64 3
  %c = fsub float %a, %b
  %to = getelementptr float, ptr %y, i64 %wide
  store float %c, ptr %to
  ret void
}
; TOGETHER-COUNT-4: load <8 x float>, ptr %{{.*}}, align 4
; TOGETHER-COUNT-2: shufflevector <8 x float> {{.*}} <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
; TOGETHER-COUNT-2: shufflevector <8 x float> {{.*}} <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
define ptx_kernel void @together(ptr %x, ptr %y, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext nneg i32 %lane to i64
  %row = getelementptr [4 x float], ptr %x, i64 %wide
  %all = load <4 x float>, ptr %row, align 4
  %a = extractelement <4 x float> %all, i64 0
  %b = extractelement <4 x float> %all, i64 3
  %c = fsub float %a, %b
  %to = getelementptr float, ptr %y, i64 %wide
  store float %c, ptr %to
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
