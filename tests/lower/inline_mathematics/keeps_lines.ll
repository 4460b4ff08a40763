; What is inlined carries the line of the call, so that messages and findings name the user's source.
; RUN: opsight-opt -p inline_mathematics %s | FileCheck-22 %s
target triple = "nvptx64-nvidia-cuda"

; CHECK: call {{.*}}float @llvm.fma.f32({{.*}}), !dbg ![[LINE:[0-9]+]]
; CHECK: ![[LINE]] = !DILocation(line: 7, column: 3
define ptx_kernel void @kernel(ptr %out, float %x) !dbg !4 {
  %a = call float @llvm.exp2.f32(float %x), !dbg !5
  store float %a, ptr %out
  ret void
}

declare float @llvm.exp2.f32(float)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "kernel.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 7, !"Dwarf Version", i32 5}
!4 = distinct !DISubprogram(name: "kernel", file: !1, line: 5, type: !6, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DILocation(line: 7, column: 3, scope: !4)
!6 = !DISubroutineType(types: !7)
!7 = !{null}
