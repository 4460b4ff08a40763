; Where rows of threads read the same, a vector is up to four rows long: 128 threads of a block of 32 × 32, 64 of one of
; 16 × 16. Not where there is one row, each row reads its own, threads ask their warp, or somebody watches.
; RUN: opsight-opt -p warp_width -p thread_indices --processor=x86-64-v4 --block=32,32 --kernel=same %s | FileCheck-22 --check-prefix=FOUR-ROWS %s
; RUN: opsight-opt -p warp_width -p thread_indices --processor=x86-64-v4 --block=16,16 --kernel=same %s | FileCheck-22 --check-prefix=SHORT-ROWS %s
; RUN: opsight-opt -p warp_width -p thread_indices --processor=x86-64-v4 --block=256 --kernel=same %s | FileCheck-22 --check-prefix=WARPS %s
; RUN: opsight-opt -p warp_width -p thread_indices --processor=x86-64-v4 --block=32,32 --checked --kernel=same %s | FileCheck-22 --check-prefix=WATCHED %s
; RUN: opsight-opt -p warp_width -p thread_indices --processor=x86-64-v4 --block=32,32 --lanes=64 --kernel=asks %s | FileCheck-22 --check-prefix=ASKS %s
; RUN: opsight-opt -p warp_width -p thread_indices --processor=x86-64-v4 --block=32,32 --kernel=own %s | FileCheck-22 --check-prefix=OWN %s
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [32 x float] poison
; FOUR-ROWS: void @same({{.*}} i32 range(i32 0, 8) %opsight.warp)
; SHORT-ROWS: void @same({{.*}} i32 range(i32 0, 4) %opsight.warp)
; WARPS: void @same({{.*}} i32 range(i32 0, 8) %opsight.warp)
; WATCHED: void @same({{.*}} i32 range(i32 0, 32) %opsight.warp)
define ptx_kernel void @same(ptr noalias %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %column = zext nneg i32 %t to i64
  %from = getelementptr float, ptr addrspace(3) @tile, i64 %column
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %v = load float, ptr addrspace(3) %from
  %rows = shl i32 %r, 5
  %index = or i32 %rows, %t
  %place = zext nneg i32 %index to i64
  %to = getelementptr float, ptr %y, i64 %place
  store float %v, ptr %to
  ret void
}
; ASKS: void @asks({{.*}} i32 range(i32 0, 32) %opsight.warp)
define ptx_kernel void @asks(ptr noalias %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %other = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %t, i32 1, i32 31)
  %place = zext nneg i32 %other to i64
  %to = getelementptr float, ptr %y, i64 %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float 1.0, ptr %to
  ret void
}
; OWN: void @own({{.*}} i32 range(i32 0, 32) %opsight.warp)
define ptx_kernel void @own(ptr noalias %x, ptr noalias %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %rows = shl i32 %r, 5
  %index = or i32 %rows, %t
  %place = zext nneg i32 %index to i64
  %from = getelementptr float, ptr %x, i64 %place
  %to = getelementptr float, ptr %y, i64 %place
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %v = load float, ptr %from
  store float %v, ptr %to
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
