; Sums over a loop of two neighbouring elements a thread, by numbers that are the same for all lanes, are kept as they lie in
; memory, from where they come and to where they go.
; RUN: opsight-opt -p delay_deinterleave --lanes=4 --block=16 %s | FileCheck-22 %s
; CHECK: %[[R0:.*]] = load <4 x float>, ptr %place
; CHECK: %[[R1:.*]] = load <4 x float>, ptr %xbehind
; CHECK: fmul contract <4 x float> %{{.*}}, %[[R0]]
; CHECK: fmul contract <4 x float> %{{.*}}, %[[R1]]
; CHECK: fadd contract <4 x float> %s0.raw,
; CHECK: fadd contract <4 x float> %s1.raw,
; CHECK: end:
; CHECK: %[[WHOLE:.*]] = shufflevector <4 x float> %s0.raw, <4 x float> %s1.raw, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
; CHECK: store <8 x float> %[[WHOLE]], ptr %out
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, ptr %out, float %a, i1 %some) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %more ]
  %s0 = phi <4 x float> [ zeroinitializer, %0 ], [ %t0, %more ]
  %s1 = phi <4 x float> [ zeroinitializer, %0 ], [ %t1, %more ]
  %ends = icmp eq i64 %i, 64
  br i1 %ends, label %end, label %more
more:
  %place = getelementptr i8, ptr %x, i64 %i
  %xbehind = getelementptr i8, ptr %place, i64 16
  %xr0 = load <4 x float>, ptr %place
  %xr1 = load <4 x float>, ptr %xbehind
  %x0 = shufflevector <4 x float> %xr0, <4 x float> %xr1, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %x1 = shufflevector <4 x float> %xr0, <4 x float> %xr1, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %min = insertelement <4 x float> poison, float %a, i64 0
  %m = shufflevector <4 x float> %min, <4 x float> poison, <4 x i32> zeroinitializer
  %nin = insertelement <4 x float> poison, float %a, i64 0
  %n = shufflevector <4 x float> %nin, <4 x float> poison, <4 x i32> zeroinitializer
  %p0 = fmul contract <4 x float> %m, %x0
  %t0 = fadd contract <4 x float> %s0, %p0
  %p1 = fmul contract <4 x float> %n, %x1
  %t1 = fadd contract <4 x float> %s1, %p1
  %next = add i64 %i, 32
  br label %loop
end:
  %both = shufflevector <4 x float> %s0, <4 x float> %s1, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %raw = shufflevector <8 x float> %both, <8 x float> poison, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  store <8 x float> %raw, ptr %out
  ret void
}
declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare <4 x float> @llvm.maxnum.v4f32(<4 x float>, <4 x float>)
declare <4 x float> @llvm.minnum.v4f32(<4 x float>, <4 x float>)
