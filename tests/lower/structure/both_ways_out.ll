; Threads leave a loop for two places, both of which do something: behind the loop's one end the branch that tells them
; apart guards each place on its own, so the warp goes through both.
; RUN: opsight-opt -p structure -p mark_uniform -p vectorise --lanes=8 --block=16 %s | FileCheck-22 %s
; CHECK: loop.exit.guard:
; CHECK: [[LEFT:%.*]] = phi <8 x i1>
; CHECK: [[HERE:%.*]] = xor <8 x i1> [[LEFT]], splat (i1 true)
; CHECK: br i1 %{{.*}}, label %leave, label %[[FLOW:.*]]
; CHECK: leave:
; CHECK-NEXT: call void @llvm.masked.store.v8i32.p0(<8 x i32> splat (i32 1), ptr align 4 %place, <8 x i1> [[HERE]])
; CHECK: [[FLOW]]:
; CHECK: br i1 %{{.*}}, label %exit, label %end
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %place = getelementptr i32, ptr %x, i32 %lane
  %odd = and i32 %lane, 1
  %stays = icmp eq i32 %odd, 0
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %more ]
  %last = icmp eq i32 %i, 4
  br i1 %last, label %exit, label %body
body:
  br i1 %stays, label %more, label %leave
more:
  %next = add i32 %i, 1
  br label %loop
leave:
  store i32 1, ptr %place
  br label %end
exit:
  br label %end
end:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
