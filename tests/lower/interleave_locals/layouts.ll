; A local array whose elements are all read alike holds element i of all threads side by side; one read in two widths keeps
; each thread's copy in one piece.
; RUN: opsight-opt -p interleave_locals --lanes=16 --block=64 %s | FileCheck-22 %s
; CHECK-DAG: %[[MIXED:mixed.*]] = alloca [512 x i8], align 64
; CHECK-DAG: %[[REGULAR:regular.*]] = alloca [512 x i8], align 64
; CHECK: [[OWN:%.*]] = mul nuw nsw i64 %{{.*}}, 4
; CHECK-NEXT: [[FIRST:%.*]] = getelementptr inbounds i8, ptr %[[REGULAR]], i64 [[OWN]]
; CHECK: [[PIECE:%.*]] = mul nuw nsw i64 %{{.*}}, 32
; CHECK-NEXT: [[COPY:%.*]] = getelementptr inbounds i8, ptr %[[MIXED]], i64 [[PIECE]]
; CHECK: [[OFFSET:%.*]] = mul nsw i64 %i, 4
; CHECK-NEXT: [[STEP:%.*]] = mul nsw i64 [[OFFSET]], 16
; CHECK-NEXT: getelementptr inbounds i8, ptr [[FIRST]], i64 [[STEP]]
; CHECK: getelementptr inbounds i32, ptr [[COPY]], i64 %i
; CHECK: load i64, ptr [[COPY]]
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %out, i64 %i, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %regular = alloca [8 x float], align 4
  %mixed = alloca [4 x i64], align 8
  %at = getelementptr inbounds float, ptr %regular, i64 %i
  store float 1.0, ptr %at
  %v = load float, ptr %at
  store float %v, ptr %out
  %word = getelementptr inbounds i32, ptr %mixed, i64 %i
  store i32 7, ptr %word
  %both = load i64, ptr %mixed
  store i64 %both, ptr %out
  ret void
}
