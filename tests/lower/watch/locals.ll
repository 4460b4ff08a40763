; A local array is watched by how far an access is behind its start: no use of its address keeps it in memory.
; RUN: opsight-opt -p watch --watched --block=64 %s | FileCheck-22 %s
; CHECK: %taps = alloca [4 x float]
; CHECK-NOT: ptrtoint ptr %taps
; CHECK: [[OFFSET:%.*]] = add i64 0, %{{.*}}
; CHECK: call void @opsight.watch.access(i32 0, i64 [[OFFSET]])
; CHECK-NEXT: load float, ptr %place
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr byval(i32) %copy, i64 %n) {
  %taps = alloca [4 x float]
  %place = getelementptr [4 x float], ptr %taps, i64 0, i64 %n
  %v = load float, ptr %place
  ret void
}
