; What compare-and-swap gives is taken apart where it is made; where two of them meet, their parts do.
; RUN: opsight-opt -p part_structures %s | FileCheck-22 %s
; CHECK: [[FIRST:%.*]] = cmpxchg ptr %x, i32 0, i32 %n
; CHECK-NEXT: [[DONE:%.*]] = extractvalue { i32, i1 } [[FIRST]], 1
; CHECK-NEXT: [[OLD:%.*]] = extractvalue { i32, i1 } [[FIRST]], 0
; CHECK: again:
; CHECK-NEXT: [[SEEN:%.*]] = phi i32 [ [[OLD]], %entry ], [ [[NEXT:%.*]], %again ]
; CHECK-NOT: insertvalue
; CHECK: [[MORE:%.*]] = add i32 [[SEEN]], %n
; CHECK-NEXT: [[LATER:%.*]] = cmpxchg ptr %x, i32 [[SEEN]], i32 [[MORE]]
; CHECK-DAG: [[NEXT]] = extractvalue { i32, i1 } [[LATER]], 0
; CHECK-NOT: phi { i32, i1 }
; CHECK: select i1 {{%.*}}, i32 {{%.*}}, i32
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %x, i32 %n, i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp) {
entry:
  %first = cmpxchg ptr %x, i32 0, i32 %n monotonic monotonic
  %done = extractvalue { i32, i1 } %first, 1
  br i1 %done, label %exit, label %again
again:
  %pair = phi { i32, i1 } [ %first, %entry ], [ %later, %again ]
  %seen = extractvalue { i32, i1 } %pair, 0
  %more = add i32 %seen, %n
  %later = cmpxchg ptr %x, i32 %seen, i32 %more monotonic monotonic
  %stored = extractvalue { i32, i1 } %later, 1
  br i1 %stored, label %exit, label %again
exit:
  %last = phi { i32, i1 } [ %first, %entry ], [ %later, %again ]
  %any = cmpxchg ptr %x, i32 1, i32 2 monotonic monotonic
  %odd = trunc i32 %n to i1
  %either = select i1 %odd, { i32, i1 } %last, { i32, i1 } %any
  %number = extractvalue { i32, i1 } %either, 0
  store i32 %number, ptr %x
  ret void
}
