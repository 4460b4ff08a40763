; A static array lives on the stack, aligned for vectors; all extern arrays are the thread's dynamic memory.
; RUN: opsight-opt -p stack_shared %s | FileCheck-22 %s
target triple = "nvptx64-nvidia-cuda"

@fixed = internal addrspace(3) global [8 x float] undef, align 4
@dynamic = external addrspace(3) global [0 x float], align 16
@again = external addrspace(3) global [0 x i32], align 16

; CHECK-NOT: addrspace(3) global
; CHECK: define ptx_kernel void @kernel(ptr %out, ptr %opsight.shared)
; CHECK: alloca [8 x float], align 64
; CHECK-COUNT-2: addrspacecast ptr %opsight.shared to ptr addrspace(3)
define ptx_kernel void @kernel(ptr %out) {
  store float 1.0, ptr addrspace(3) getelementptr (float, ptr addrspace(3) @fixed, i64 3)
  store float 2.0, ptr addrspace(3) @dynamic
  store i32 3, ptr addrspace(3) @again
  ret void
}
