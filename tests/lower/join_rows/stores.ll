; Four neighbouring writes of a thread are one, at the last one's place; not across an access that may meet them.
; RUN: opsight-opt -p join_rows --lanes=8 --block=64 --kernel=square %s | FileCheck-22 --check-prefix=SQUARE %s
; RUN: opsight-opt -p join_rows --lanes=8 --block=64 --kernel=read %s | FileCheck-22 --check-prefix=READ %s
; RUN: opsight-opt -p join_rows --lanes=8 --block=64 --kernel=adds %s | FileCheck-22 --check-prefix=ADDS %s
; RUN: opsight-opt -p join_rows -p vectorise --lanes=8 --block=64 --kernel=square %s | FileCheck-22 --check-prefix=WARP %s
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; SQUARE-LABEL: @square(
; SQUARE: [[A:%.*]] = insertelement <4 x float> poison, float %a, i64 0
; SQUARE: [[B:%.*]] = insertelement <4 x float> [[A]], float %b, i64 1
; SQUARE: [[C:%.*]] = insertelement <4 x float> [[B]], float %a, i64 2
; SQUARE: [[D:%.*]] = insertelement <4 x float> [[C]], float %b, i64 3
; SQUARE: store <4 x float> [[D]], ptr {{.*}}, align 4
; SQUARE-NOT: store
; SQUARE: ret void
; Of a warp: transposed, then a store a thread.
; WARP: shufflevector <8 x float> {{.*}} <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
; WARP-COUNT-8: store <4 x float>
; WARP-NOT: scatter
define ptx_kernel void @square(ptr %x, float %a, float %b) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext nneg i32 %lane to i64
  %row = getelementptr [65 x float], ptr %x, i64 %wide
  %second = getelementptr i8, ptr %row, i64 4
  %third = getelementptr i8, ptr %row, i64 8
  %fourth = getelementptr i8, ptr %row, i64 12
  store float %b, ptr %second
  store float %a, ptr %row
  store float %a, ptr %third
  store float %b, ptr %fourth
  ret void
}
; READ-LABEL: @read(
; READ-NOT: <4 x float>
; READ: ret void
define ptx_kernel void @read(ptr %x, ptr %y) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext nneg i32 %lane to i64
  %row = getelementptr [65 x float], ptr %x, i64 %wide
  %second = getelementptr i8, ptr %row, i64 4
  %third = getelementptr i8, ptr %row, i64 8
  %fourth = getelementptr i8, ptr %row, i64 12
  store float 1.0, ptr %row
  store float 2.0, ptr %second
  %other = load float, ptr %y
  store float %other, ptr %third
  store float 3.0, ptr %fourth
  ret void
}
; A loop of `row[d] += y[d]` asks once whether the two overlap; if not, four steps are done together.
; ADDS-LABEL: @adds(
; ADDS: %found.conflict = and i1
; ADDS: br i1 %found.conflict
; ADDS: load <4 x float>
; ADDS: store <4 x float>
define ptx_kernel void @adds(ptr %x, ptr %y, i64 %n) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext nneg i32 %lane to i64
  %row = getelementptr [65 x float], ptr %x, i64 %wide
  br label %loop
loop:
  %d = phi i64 [ 0, %0 ], [ %next, %loop ]
  %at = getelementptr inbounds float, ptr %row, i64 %d
  %from = getelementptr inbounds float, ptr %y, i64 %d
  %a = load float, ptr %at
  %b = load float, ptr %from
  %sum = fadd float %a, %b
  store float %sum, ptr %at
  %next = add nuw nsw i64 %d, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
