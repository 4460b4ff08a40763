; Four neighbours, in whatever order, are one check of 16 bytes before the first; a fifth, what lies elsewhere and what comes
; behind a store stay as they are.
; RUN: opsight-opt -p watch -p merge_checks --checked --block=64 %s | FileCheck-22 %s
; CHECK: %c = getelementptr inbounds i32, ptr addrspace(3) @tile, i64 %i2
; CHECK: [[GENERIC:%.*]] = addrspacecast ptr addrspace(3) %c to ptr
; CHECK-NEXT: [[FIRST:%.*]] = getelementptr i8, ptr [[GENERIC]], i64 -8
; CHECK-NEXT: call void @opsight.watch.check(i32 [[#]], ptr [[FIRST]], ptr addrspacecast (ptr addrspace(3) @tile to ptr))
; CHECK-NEXT: %r2 = load i32
; CHECK-NOT: opsight.watch.check
; CHECK: load i32, ptr addrspace(3) %d
; CHECK: call void @opsight.watch.check(i32 [[#]], ptr %{{.*}}, ptr addrspacecast
; CHECK-NEXT: load i32, ptr addrspace(3) %e
; CHECK-NEXT: call void @opsight.watch.check(i32 [[#]], ptr %x, ptr %x)
; CHECK-NEXT: store i32
; CHECK: call void @opsight.watch.check(i32 [[#]], ptr %{{.*}}, ptr addrspacecast
; CHECK-NEXT: load i32, ptr addrspace(3) %f
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [128 x i32] undef
define ptx_kernel void @kernel(ptr %x, i64 %n) {
  %i = mul nuw nsw i64 %n, 4
  %i2 = add nuw nsw i64 %i, 2
  %i3 = add nuw nsw i64 %i, 3
  %i1 = add nuw nsw i64 %i, 1
  %i4 = add nuw nsw i64 %i, 4
  %i5 = add nuw nsw i64 %i, 5
  %c = getelementptr inbounds i32, ptr addrspace(3) @tile, i64 %i2
  %r2 = load i32, ptr addrspace(3) %c
  %a = getelementptr inbounds i32, ptr addrspace(3) @tile, i64 %i
  %r0 = load i32, ptr addrspace(3) %a
  %b = getelementptr inbounds i32, ptr addrspace(3) @tile, i64 %i1
  %r1 = load i32, ptr addrspace(3) %b
  %d = getelementptr inbounds i32, ptr addrspace(3) @tile, i64 %i3
  %r3 = load i32, ptr addrspace(3) %d
  %e = getelementptr inbounds i32, ptr addrspace(3) @tile, i64 %i4
  %r4 = load i32, ptr addrspace(3) %e
  store i32 %r4, ptr %x
  %f = getelementptr inbounds i32, ptr addrspace(3) @tile, i64 %i5
  %r5 = load i32, ptr addrspace(3) %f
  ret void
}
