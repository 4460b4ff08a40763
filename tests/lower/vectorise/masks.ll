; A region is jumped over where nobody enters it, runs under a mask else, and its end blends in what the others hold. The
; address, a scalar and a constant of each lane, makes one vector's load of it.
; RUN: opsight-opt -p vectorise --lanes=4 --block=64 %s | FileCheck-22 %s
; CHECK: %some = icmp slt <4 x i32>
; CHECK-NEXT: [[BITS:%.*]] = bitcast <4 x i1> %some to i4
; CHECK-NEXT: [[ANY:%.*]] = icmp ne i4 [[BITS]], 0
; CHECK-NEXT: br i1 [[ANY]], label %then, label %join
; CHECK: then:
; CHECK-NEXT: [[V:%.*]] = call <4 x float> @llvm.masked.load.v4f32.p0(ptr align 4 %at, <4 x i1> %some, <4 x float> poison)
; CHECK-NEXT: %w = fadd <4 x float> [[V]], splat (float 1.000000e+00)
; CHECK-NEXT: [[BLEND:%.*]] = select <4 x i1> %some, <4 x float> %w, <4 x float> zeroinitializer
; CHECK: join:
; CHECK-NEXT: %r = phi <4 x float> [ [[BLEND]], %then ], [ zeroinitializer, %0 ]
; CHECK-NEXT: store <4 x float> %r, ptr %at
; CHECK-NEXT: ret void
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %base = mul i32 %opsight.warp, 4
  %thread = add i32 %base, %lane
  %wide = sext i32 %lane to i64
  %at = getelementptr float, ptr %x, i64 %wide
  %some = icmp slt i32 %thread, %n
  br i1 %some, label %then, label %join
then:
  %v = load float, ptr %at, align 4
  %w = fadd float %v, 1.0
  br label %join
join:
  %r = phi float [ 0.0, %0 ], [ %w, %then ]
  store float %r, ptr %at, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
