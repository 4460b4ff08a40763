; An access that may lead into one of two objects is checked by its address, so the block says where its arrays are.
; RUN: opsight-opt -p watch --checked --block=64 %s | FileCheck-22 %s
; CHECK: call void @opsight.watch.enter(i32 0)
; CHECK-NEXT: call void @opsight.watch.array(i32 0, i64 ptrtoint (ptr addrspacecast (ptr addrspace(3) @tile to ptr) to i64))
; CHECK: call void @opsight.watch.check(i32 0, ptr %either, ptr null)
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [8 x i32] undef
define ptx_kernel void @kernel(ptr %x, i1 %c) {
  %either = select i1 %c, ptr %x, ptr addrspacecast (ptr addrspace(3) @tile to ptr)
  %v = load i32, ptr %either
  ret void
}
