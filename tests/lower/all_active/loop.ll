; `for (i = lane; i < n; i += 32)`: rounds in which everyone goes on run without masks; the rest takes over where they end.
; RUN: opsight-opt -p all_active %s | FileCheck-22 %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.laneid()

; CHECK-LABEL: @kernel(
; CHECK: [[HERE:%.*]] = call i1 @opsight.full(i1 true)
; CHECK: br i1 [[HERE]], label %all.here, label %some.here
; CHECK: some.left:
; CHECK: br i1 {{%.*}}, label %some.here, label %{{.*}}
; CHECK: round.full:
; CHECK: [[ON:%.*]] = call i1 @opsight.full(i1 %again{{.*}})
; CHECK: br i1 [[ON]], label %round.full, label %some.left
define ptx_kernel void @kernel(ptr addrspace(1) %out, i64 %n) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = zext nneg i32 %lane to i64
  br label %round

round:
  %index = phi i64 [ %first, %0 ], [ %next, %round ]
  %place = getelementptr float, ptr addrspace(1) %out, i64 %index
  %a = load float, ptr addrspace(1) %place
  %b = fmul float %a, %a
  %c = fadd float %b, 1.0
  %d = fmul float %c, %a
  %e = fadd float %d, 2.0
  %f = fmul float %e, %a
  store float %f, ptr addrspace(1) %place
  %next = add nuw nsw i64 %index, 32
  %again = icmp slt i64 %next, %n
  br i1 %again, label %round, label %done

done:
  ret void
}
