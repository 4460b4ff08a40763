; A block of one thread checks its accesses as lane 0 of warp 0; its barriers order nothing.
; RUN: opsight-opt -p watch -p lone_thread -p block_indices -p publish_alone --checked %s | FileCheck-22 %s
; CHECK: call void @opsight_check_enter(ptr %opsight.shadow, i32 0, i64
; CHECK: call void @opsight_check_place4(ptr %opsight.shadow, i32 0, i64 0, i64 %{{.*}}, i32 1, i32 0, i32 0, i32 [[#]], i32 16, i32 16)
; CHECK-NEXT: store <4 x float>
; CHECK-NOT: opsight_check
; CHECK: ret void
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x) {
  store <4 x float> zeroinitializer, ptr %x, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
