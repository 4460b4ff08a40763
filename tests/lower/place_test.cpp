// From instructions back to lines, where LLVM has kept a place and where it has not.
#include "lower/pass.h"
#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/SourceMgr.h>

namespace opsight::lower {
namespace {

constexpr const char *text = R"(
define void @k(ptr %p, ptr %q) !dbg !3 {
  %x = load float, ptr %p
  %y = fadd float %x, 1.0
  %z = fmul float %y, 2.0, !dbg !5
  store float %z, ptr %q, !dbg !6
  store float 0.0, ptr %q
  ret void
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "t.cu", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "k", file: !1, line: 1, unit: !0, type: !4, spFlags: DISPFlagDefinition)
!4 = !DISubroutineType(types: !{})
!5 = !DILocation(line: 7, column: 3, scope: !3)
!6 = !DILocation(line: 8, column: 5, scope: !3)
)";

TEST(Place, AnInstructionWithoutOneTakesThatOfItsUse) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  ASSERT_TRUE(module) << error.getMessage().str();
  std::vector<SourcePlace> places;
  for (const llvm::Instruction &instruction : llvm::instructions(*module->getFunction("k")))
    places.push_back(placeOf(instruction));
  ASSERT_EQ(places.size(), 6u);
  EXPECT_EQ(places[0].line, 7u);
  EXPECT_EQ(places[0].file, "t.cu");
  EXPECT_EQ(places[1].line, 7u);
  EXPECT_EQ(places[2].column, 3u);
  EXPECT_EQ(places[3].line, 8u);
  EXPECT_EQ(places[4].line, 0u); // nobody uses a store
  EXPECT_EQ(places[5].line, 0u);
}

} // namespace
} // namespace opsight::lower
