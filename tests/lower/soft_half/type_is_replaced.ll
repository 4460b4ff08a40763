; Halves that are only kept and moved: the type becomes i16 wherever it is mentioned, and nothing is converted.
; RUN: opsight-opt --no-half -p soft_half %s | FileCheck-22 %s
; RUN: opsight-opt -p soft_half %s | FileCheck-22 --check-prefix=HAS %s
target triple = "nvptx64-nvidia-cuda"

; CHECK: [[PAIR:%[A-Za-z.0-9]+]] = type { i32, [3 x i16] }
; CHECK: @tile = internal addrspace(3) global [64 x i16] undef, align 4
; CHECK: define ptx_kernel void @k(i16 %x, ptr byval([[PAIR]]) %s, ptr addrspace(1) %p, i64 %i, <2 x i16> %v)
; CHECK: %own = alloca [4 x i16], align 2, addrspace(5)
; CHECK: getelementptr inbounds i16, ptr addrspace(1) %p, i64 %i
; CHECK: load i16, ptr addrspace(1) %at, align 2
; CHECK: getelementptr i16, ptr addrspace(3) @tile, i64 2
; CHECK: store i16 31744, ptr addrspace(3)
; CHECK: store [2 x i16] [i16 15360, i16 -32768], ptr addrspace(5) %own
; CHECK: getelementptr [[PAIR]], ptr %s, i64 0, i32 1, i64 1
; CHECK: select i1 %big, i16 %a, i16 15360
; CHECK: phi i16 [ %chosen, %then ], [ %x, %entry ]
; CHECK: insertelement <2 x i16> %v, i16 %merged, i64 1
; CHECK: bitcast <2 x i16> %both to i32
; CHECK: store i16 %merged
; CHECK-NOT: half
; HAS: define ptx_kernel void @k(half %x
%pair = type { i32, [3 x half] }
@tile = internal addrspace(3) global [64 x half] undef, align 4

define ptx_kernel void @k(half %x, ptr byval(%pair) %s, ptr addrspace(1) %p, i64 %i, <2 x half> %v) {
entry:
  %own = alloca [4 x half], align 2, addrspace(5)
  %at = getelementptr inbounds half, ptr addrspace(1) %p, i64 %i
  %a = load half, ptr addrspace(1) %at, align 2
  store half 0xH7C00, ptr addrspace(3) getelementptr (half, ptr addrspace(3) @tile, i64 2), align 2
  store [2 x half] [half 0xH3C00, half 0xH8000], ptr addrspace(5) %own, align 2
  %field = getelementptr %pair, ptr %s, i64 0, i32 1, i64 1
  %bits = bitcast half %a to i16
  %big = icmp sgt i16 %bits, 100
  br i1 %big, label %then, label %end
then:
  %chosen = select i1 %big, half %a, half 1.0
  br label %end
end:
  %merged = phi half [ %chosen, %then ], [ %x, %entry ]
  %both = insertelement <2 x half> %v, half %merged, i64 1
  %word = bitcast <2 x half> %both to i32
  store i32 %word, ptr addrspace(1) %p, align 4
  store half %merged, ptr %field, align 2
  ret void
}
