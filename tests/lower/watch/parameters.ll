; A structure by value is the kernel's own copy: reading it is no access to memory.
; RUN: opsight-opt -p watch --watched --block=64 %s | FileCheck-22 %s
; CHECK-NOT: opsight.watch.access
; CHECK: ret void
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr byval({ i32, i32 }) %copy) {
  %v = load i32, ptr %copy
  ret void
}
