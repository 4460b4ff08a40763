; Where threads need nothing of each other, vectors are as long as what is alive at once lets them be and the block is
; whole vectors: 32 threads with one value each, two registers of 8 with six; a register's lanes where threads take turns
; at atomic operations, or where there is neither loop nor barrier; 16 where 32 would leave lanes empty in a block of 48.
; RUN: opsight-opt -p warp_width -p thread_indices --processor=x86-64-v3 --block=64 --kernel=one %s | FileCheck-22 --check-prefix=FOUR-REGISTERS %s
; RUN: opsight-opt -p warp_width -p thread_indices --processor=x86-64-v4 --block=64 --kernel=one %s | FileCheck-22 --check-prefix=FOUR-REGISTERS %s
; RUN: opsight-opt -p warp_width -p thread_indices --processor=x86-64-v3 --block=48 --kernel=one %s | FileCheck-22 --check-prefix=HALF-WARPS %s
; RUN: opsight-opt -p warp_width -p thread_indices --processor=x86-64-v3 --block=64 --kernel=six %s | FileCheck-22 --check-prefix=TWO-REGISTERS %s
; RUN: opsight-opt -p warp_width -p thread_indices --processor=x86-64-v4 --block=64 --kernel=six %s | FileCheck-22 --check-prefix=ALL-OF-IT %s
; RUN: opsight-opt -p warp_width -p thread_indices --processor=x86-64-v3 --block=64 --kernel=straight %s | FileCheck-22 --check-prefix=STRAIGHT %s
; RUN: opsight-opt -p warp_width -p thread_indices --processor=x86-64-v3 --block=64 --kernel=turns %s | FileCheck-22 --check-prefix=ONE-REGISTER %s
target triple = "nvptx64-nvidia-cuda"
; FOUR-REGISTERS: void @one({{.*}} i32 range(i32 0, 2) %opsight.warp)
; HALF-WARPS: void @one({{.*}} i32 range(i32 0, 3) %opsight.warp)
define ptx_kernel void @one(ptr noalias %x, ptr noalias %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext nneg i32 %t to i64
  %from = getelementptr float, ptr %x, i64 %i
  %to = getelementptr float, ptr %y, i64 %i
  %v = load float, ptr %from
  %w = fmul float %v, %v
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float %w, ptr %to
  ret void
}
; TWO-REGISTERS: void @six({{.*}} i32 range(i32 0, 4) %opsight.warp)
; ALL-OF-IT: void @six({{.*}} i32 range(i32 0, 2) %opsight.warp)
define ptx_kernel void @six(ptr noalias %x, ptr noalias %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext nneg i32 %t to i64
  %from = getelementptr float, ptr %x, i64 %i
  %to = getelementptr float, ptr %y, i64 %i
  %p1 = getelementptr i8, ptr %from, i64 1024
  %p2 = getelementptr i8, ptr %from, i64 2048
  %p3 = getelementptr i8, ptr %from, i64 3072
  %p4 = getelementptr i8, ptr %from, i64 4096
  %p5 = getelementptr i8, ptr %from, i64 5120
  %v0 = load float, ptr %from
  %v1 = load float, ptr %p1
  %v2 = load float, ptr %p2
  %v3 = load float, ptr %p3
  %v4 = load float, ptr %p4
  %v5 = load float, ptr %p5
  %a = fadd float %v0, %v1
  %b = fmul float %v2, %v3
  %c = fsub float %v4, %v5
  %d = fdiv float %a, %b
  %e = fdiv float %d, %c
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float %e, ptr %to
  ret void
}
; STRAIGHT: void @straight({{.*}} i32 range(i32 0, 8) %opsight.warp)
define ptx_kernel void @straight(ptr noalias %x, ptr noalias %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext nneg i32 %t to i64
  %from = getelementptr float, ptr %x, i64 %i
  %to = getelementptr float, ptr %y, i64 %i
  %v = load float, ptr %from
  %w = fmul float %v, %v
  store float %w, ptr %to
  ret void
}
; ONE-REGISTER: void @turns({{.*}} i32 range(i32 0, 8) %opsight.warp)
define ptx_kernel void @turns(ptr %x, i32 %v) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %old = atomicrmw add ptr %x, i32 %v monotonic, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
