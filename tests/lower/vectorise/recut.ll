; The bits of a short vector as elements of another width, for each thread: wider ones are put together of narrow ones,
; narrow ones are cut out of wider.
; RUN: opsight-opt -p vectorise --lanes=8 --block=16 %s | FileCheck-22 %s
; CHECK: [[HALF:%.*]] = load <8 x i16>
; CHECK: lshr <8 x i16> [[HALF]], zeroinitializer
; CHECK-NEXT: zext <8 x i16> {{%.*}} to <8 x i32>
; CHECK: [[LOW:%.*]] = or <8 x i32>
; CHECK: lshr <8 x i16> [[HALF]], zeroinitializer
; CHECK-NEXT: [[HIGH:%.*]] = zext <8 x i16> {{%.*}} to <8 x i32>
; CHECK-NEXT: [[UP:%.*]] = shl <8 x i32> [[HIGH]], splat (i32 16)
; CHECK-NEXT: [[WORD:%.*]] = or <8 x i32> [[LOW]], [[UP]]
; CHECK: %more = mul <8 x i32> [[WORD]]
; CHECK: [[DOWN:%.*]] = lshr <8 x i32> %more, splat (i32 24)
; CHECK: trunc <8 x i32> [[DOWN]] to <8 x i8>
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %place = getelementptr i16, ptr %x, i32 %lane
  %half = load i16, ptr %place
  %one = insertelement <2 x i16> poison, i16 %half, i64 0
  %two = insertelement <2 x i16> %one, i16 %half, i64 1
  %word = bitcast <2 x i16> %two to i32
  %more = mul i32 %word, %n
  %bytes = bitcast i32 %more to <4 x i8>
  %last = extractelement <4 x i8> %bytes, i64 3
  %to = getelementptr i8, ptr %x, i32 %lane
  store i8 %last, ptr %to
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
