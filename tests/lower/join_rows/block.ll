; Four neighbouring reads of a thread are one where the warp would gather each; not where the warp's reads lie side by
; side or are all the same, nor where something is written, or a thread may leave, between them.
; RUN: opsight-opt -p join_rows --lanes=8 --block=64 --kernel=columns %s | FileCheck-22 --check-prefix=COLUMNS %s
; RUN: opsight-opt -p join_rows --lanes=8 --block=64 --kernel=rows %s | FileCheck-22 --check-prefix=ROWS %s
; RUN: opsight-opt -p join_rows --lanes=8 --block=64 --kernel=written %s | FileCheck-22 --check-prefix=WRITTEN %s
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; The order in the block does not matter, only that in memory.
; COLUMNS-LABEL: @columns(
; COLUMNS: [[ROW:%.*]] = getelementptr i8, ptr %second, i64 -4
; COLUMNS: [[ALL:%.*]] = load <4 x float>, ptr [[ROW]], align 4
; COLUMNS-DAG: [[A:%.*]] = extractelement <4 x float> [[ALL]], i64 0
; COLUMNS-DAG: [[B:%.*]] = extractelement <4 x float> [[ALL]], i64 1
; COLUMNS: fsub float [[A]], [[B]]
; COLUMNS-NOT: load float
; COLUMNS: ret void
define ptx_kernel void @columns(ptr %x, ptr %y) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext nneg i32 %lane to i64
  %row = getelementptr [65 x float], ptr %x, i64 %wide
  %second = getelementptr i8, ptr %row, i64 4
  %third = getelementptr i8, ptr %row, i64 8
  %fourth = getelementptr i8, ptr %row, i64 12
  %b = load float, ptr %second
  %a = load float, ptr %row
  %d = load float, ptr %fourth
  %c = load float, ptr %third
  %s = fsub float %a, %b
  %t = fsub float %c, %d
  %u = fmul float %s, %t
  store float %u, ptr %y
  ret void
}
; ROWS-LABEL: @rows(
; ROWS-NOT: <4 x float>
; ROWS: ret void
define ptx_kernel void @rows(ptr %x, ptr %y) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext nneg i32 %lane to i64
  %row = getelementptr float, ptr %x, i64 %wide
  %second = getelementptr i8, ptr %row, i64 4
  %third = getelementptr i8, ptr %row, i64 8
  %fourth = getelementptr i8, ptr %row, i64 12
  %a = load float, ptr %row
  %b = load float, ptr %second
  %c = load float, ptr %third
  %d = load float, ptr %fourth
  %s = fsub float %a, %b
  %t = fsub float %c, %d
  %u = fmul float %s, %t
  store float %u, ptr %y
  ret void
}
; WRITTEN-LABEL: @written(
; WRITTEN-NOT: <4 x float>
; WRITTEN: ret void
define ptx_kernel void @written(ptr %x, ptr %y) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %wide = zext nneg i32 %lane to i64
  %row = getelementptr [65 x float], ptr %x, i64 %wide
  %second = getelementptr i8, ptr %row, i64 4
  %third = getelementptr i8, ptr %row, i64 8
  %fourth = getelementptr i8, ptr %row, i64 12
  %a = load float, ptr %row
  %b = load float, ptr %second
  store float %a, ptr %y
  %c = load float, ptr %third
  %d = load float, ptr %fourth
  %s = fsub float %a, %b
  %t = fsub float %c, %d
  %u = fmul float %s, %t
  store float %u, ptr %y
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
