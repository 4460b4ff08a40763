; Whether a condition holds in all lanes is asked of the lane that decides, not of vectors.
; RUN: opsight-opt -p vectorise --block 32 --lanes 16 %s | FileCheck-22 %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i1 @opsight.full(i1) convergent

; The highest lane, and only where none wraps past it.
; CHECK-LABEL: @kernel(
; CHECK: [[LOW:%.*]] = add i32 %i, 0
; CHECK: [[HIGH:%.*]] = add i32 %i, 15
; CHECK: [[RISES:%.*]] = icmp sle i32 [[LOW]], [[HIGH]]
; CHECK: [[BELOW:%.*]] = icmp slt i32 [[HIGH]], %n
; CHECK: [[ALL:%.*]] = and i1 [[BELOW]], [[RISES]]
; CHECK: br i1 [[ALL]], label %all, label %ask
; `!(out)` of two conditions: both are asked, the second only for what the first lets through.
; CHECK: ask:
; CHECK: icmp sge i32 {{%.*}}, %n
; CHECK: [[TOO:%.*]] = icmp sge i32 {{%.*}}, %m
; CHECK: [[BOTH:%.*]] = and i1 [[TOO]],
; CHECK: select i1 {{%.*}}, i1 [[BOTH]], i1 false
define ptx_kernel void @kernel(ptr addrspace(1) %out, i32 %start, i32 %n, i32 %m) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %i = add i32 %start, %lane
  %inside = icmp slt i32 %i, %n
  %full = call i1 @opsight.full(i1 %inside)
  br i1 %full, label %all, label %ask

ask:
  %past = icmp slt i32 %i, %m
  %either = select i1 %inside, i1 true, i1 %past
  %neither = xor i1 %either, true
  %none = call i1 @opsight.full(i1 %neither)
  br i1 %none, label %all, label %done

all:
  store i32 1, ptr addrspace(1) %out
  br label %done

done:
  ret void
}
