; A barrier to which only some vectors come is a fault, which is still told, though nothing needs it.
; RUN: opsight-opt -p drop_barriers --lanes=16 --block=64 %s | FileCheck-22 %s
; CHECK: by.number:
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0){{$}}
; CHECK: by.parameter:
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !opsight.idle
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %out, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 range(i32 0, 4) %opsight.warp) {
  %early = icmp ult i32 %opsight.warp, 2
  br i1 %early, label %by.number, label %join
by.number:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %join
join:
  %some = icmp ult i32 %n, 2
  br i1 %some, label %by.parameter, label %end
by.parameter:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
end:
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
