; `if (i >= n) return;`: what follows gets a version for when no thread is missing.
; RUN: opsight-opt -p all_active %s | FileCheck-22 %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.laneid()

; CHECK-LABEL: @kernel(
; CHECK: [[FULL:%.*]] = call i1 @opsight.full(i1 %inside)
; CHECK: br i1 [[FULL]], label %work.full, label %[[SOME:.*]]
; CHECK: [[SOME]]:
; CHECK: br i1 %inside, label %work, label %done
; CHECK: work:
; CHECK: store
; CHECK: work.full:
; CHECK: store
define ptx_kernel void @kernel(ptr addrspace(1) %out, i32 %n) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %inside = icmp slt i32 %lane, %n
  br i1 %inside, label %work, label %done

work:
  %index = zext nneg i32 %lane to i64
  %place = getelementptr float, ptr addrspace(1) %out, i64 %index
  %a = load float, ptr addrspace(1) %place
  %b = fmul float %a, %a
  %c = fadd float %b, 1.0
  %d = fmul float %c, %a
  %e = fadd float %d, 2.0
  %f = fmul float %e, %a
  %g = fadd float %f, 3.0
  %h = fmul float %g, %a
  %i = fadd float %h, 4.0
  store float %i, ptr addrspace(1) %place
  br label %done

done:
  ret void
}
