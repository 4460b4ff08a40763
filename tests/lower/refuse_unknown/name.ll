; What nobody translated is refused by the name the user wrote.
; RUN: not opsight-opt -p refuse_unknown %s 2>&1 | FileCheck-22 %s
target triple = "nvptx64-nvidia-cuda"

; CHECK: erfcinvf on the cpu card
define ptx_kernel void @kernel(float %x) {
  %d = call float @__nv_erfcinvf(float %x)
  ret void
}

declare float @__nv_erfcinvf(float)
