; RUN: opsight-opt -p map_subgroups --block=64 --subgroups=16,32 %s | FileCheck-22 %s
; RUN: opsight-opt --emit spvasm --block=64 --subgroups=16,32 %s | FileCheck-22 --check-prefix=SPIRV %s
; RUN: opsight-opt --emit spvasm --block=64 --subgroups=8,16 %s | FileCheck-22 --check-prefix=NONE %s
; CHECK: define ptx_kernel void @k({{.*}} !intel_reqd_sub_group_size ![[WIDTH:[0-9]+]]
; CHECK: call spir_func i32 @_Z17sub_group_shufflejj(i32 %v, i32
; CHECK: call spir_func <4 x i32> @_Z16sub_group_balloti(i32
; CHECK: call spir_func i32 @_Z32sub_group_non_uniform_reduce_maxi(i32 %v)
; CHECK: call spir_func void @_Z22__spirv_ControlBarrierjjj(i32 3, i32 3, i32 776)
; CHECK-NOT: call {{.*}} @llvm.nvvm.{{shfl|vote|redux|bar}}
; CHECK: ![[WIDTH]] = !{i32 32}
; SPIRV: Version: 1.3
; SPIRV: OpExecutionMode %k SubgroupSize 32
; SPIRV: OpGroupNonUniformShuffle
; SPIRV: OpGroupNonUniformBallot
; SPIRV: OpGroupNonUniformSMax
; SPIRV: OpControlBarrier %uint_3 %uint_3 %uint_776
; NONE: Version: 1.0
; NONE-NOT: OpGroupNonUniform
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i32 %v, ptr addrspace(1) %o) {
  %s = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 16, i32 31)
  %odd = trunc i32 %v to i1
  %b = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %odd)
  %m = call i32 @llvm.nvvm.redux.sync.max(i32 %v, i32 -1)
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %t = add i32 %s, %b
  %r = add i32 %t, %m
  store i32 %r, ptr addrspace(1) %o
  ret void
}
