; Nothing of the GPU's triple, layout or features is left, and the kernel's calling convention is C's.
; RUN: opsight-opt -p retarget %s | FileCheck-22 %s
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

; CHECK-NOT: nvptx
; CHECK: target triple = "{{.*}}linux{{.*}}"
; CHECK: define void @kernel() #[[A:[0-9]+]]
; CHECK: attributes #[[A]] = {{.*}}"target-cpu"="
; CHECK-NOT: sm_80
define ptx_kernel void @kernel() "target-cpu"="sm_80" "target-features"="+ptx80" {
  ret void
}
