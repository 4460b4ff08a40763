// The statements of PTX's text, and what is said of text that has none.
#include "cuda/ptx/statement.h"
#include <gtest/gtest.h>

namespace opsight::cuda::ptx {
namespace {

using Kind = Operand::Kind;

std::vector<Statement> parsed(std::string_view text) {
  auto statements = parse(text);
  EXPECT_TRUE(statements) << statements.error();
  return statements.value_or(std::vector<Statement>());
}

TEST(PtxParser, several_statements_with_comments_and_blanks) {
  auto all = parsed("  add.rn.ftz.f32 $0 , $1,$2 ;// a; comment\n/* mul.f32 a, b; */\tbar.sync 0;;");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name(), "add.rn.ftz.f32");
  ASSERT_EQ(all[0].operands.size(), 3u);
  EXPECT_EQ(all[0].operands[2].name, "$2");
  EXPECT_EQ(all[1].name(), "bar.sync");
  EXPECT_EQ(all[1].operands[0].bits, 0u);
}

TEST(PtxParser, scopes_and_declarations) {
  auto all = parsed("{ .reg .pred p, %q; .reg .b32 r<3>; { } }");
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0].kind, Statement::Kind::Open);
  EXPECT_EQ(all[1].kind, Statement::Kind::Declaration);
  EXPECT_EQ(all[1].name(), "pred");
  EXPECT_EQ(all[1].operands[1].name, "%q");
  ASSERT_EQ(all[2].operands.size(), 3u);
  EXPECT_EQ(all[2].operands[2].name, "r2");
  EXPECT_EQ(all[5].kind, Statement::Kind::Close);
}

TEST(PtxParser, guards_and_predicates) {
  auto all = parsed("@p mov.b32 r, 1; @!%q selp.b32 r, a, b, !p; setp.lt.s32 p|q, a, b;");
  EXPECT_EQ(all[0].guard, "p");
  EXPECT_FALSE(all[0].guardNegated);
  EXPECT_EQ(all[1].guard, "%q");
  EXPECT_TRUE(all[1].guardNegated);
  EXPECT_TRUE(all[1].operands[3].negated);
  EXPECT_EQ(all[2].operands[0].name, "p");
  EXPECT_EQ(all[2].operands[0].second, "q");
}

TEST(PtxParser, addresses_and_vectors) {
  auto all = parsed("ld.global.L2::128B.v2.u32 {$0, _}, [$2+-16]; st.v2.u32 [%rd4 + 0x10], {1, r1}; ld.u32 r, [$1 + $2];");
  EXPECT_EQ(all[0].words[2], "L2::128B");
  ASSERT_EQ(all[0].operands[0].kind, Kind::Vector);
  EXPECT_EQ(all[0].operands[0].parts[1].name, "_");
  EXPECT_EQ(all[0].operands[1].kind, Kind::Address);
  EXPECT_EQ(int64_t(all[0].operands[1].bits), -16);
  EXPECT_EQ(all[1].operands[0].name, "%rd4");
  EXPECT_EQ(all[1].operands[0].bits, 16u);
  EXPECT_EQ(all[1].operands[1].parts[0].bits, 1u);
  EXPECT_EQ(all[2].operands[1].second, "$2");
}

TEST(PtxParser, numbers_of_every_form) {
  const uint64_t bits[] = {10, ~0ull, 31, 0xffffffff, 5, 15, 0x3f800000, 0xbf800000, 0x3ff0000000000000, 0x3ff8000000000000,
                           0xc09f400000000000};
  auto all = parsed("x 10, -1, 0x1F, 0XFFFFFFFFU, 0b101, 017, 0f3F800000, -0f3F800000, 0d3FF0000000000000, 1.5, -2e3, %tid.x;");
  ASSERT_EQ(all[0].operands.size(), 12u);
  for (size_t i = 0; i < std::size(bits); ++i)
    EXPECT_EQ(all[0].operands[i].bits, bits[i]) << i;
  EXPECT_EQ(all[0].operands[6].kind, Kind::Single);
  EXPECT_EQ(all[0].operands[8].kind, Kind::Double);
  EXPECT_EQ(all[0].operands[9].kind, Kind::Double);
  EXPECT_EQ(all[0].operands[11].name, "%tid.x");
}

TEST(PtxParser, malformed_text_is_told_with_its_place) {
  const std::pair<const char *, const char *> texts[] = {
      {"add.u32 a, b", "its end where ';' should be"},
      {"add.u32 a b;", "'b;' where ';' should be"},
      {"add.u32 a, ;", "';' where a register should be"},
      {"add..u32 a;", "'.u32 a;' where an instruction should be"},
      {"{ mov.u32 a, b;", "its end where '}' should be"},
      {"mov.u32 a, b; }", "its end where an instruction should be"},
      {"ld.u32 a, [b + 1.5];", "'];' where a whole number before this should be"},
      {"ld.u32 a, [b;", "';' where ']' should be"},
      {"mov.u32 a, {b, c;", "';' where '}' should be"},
      {"mov.u32 a, 0xZZ;", "'0xZZ;' where a number should be"},
      {"mov.u32 a, 12ab;", "'12ab;' where a number should be"},
      {"mov.u64 a, 18446744073709551616;", "'18446744073709551616' where a number should be"},
      {"mov.f32 a, 0f3F8;", "'0f3F8;' where a number should be"},
      {".shared .b32 x;", "'.shared .b32 x;' where an instruction or '.reg' should be"},
      {".reg .b32 x<0>;", "';' where a count should be"},
      {"LOOP: bra LOOP;", "'LOOP: bra LOOP;' where an instruction, not a label, should be"},
      {"@ 5 add.u32 a;", "'5 add.u32 a;' where a register should be"},
      {"mov.u32 $$0, 1;", "'$0, 1;' where a register should be"},
      {"mov.u32 ${0:h}, 1;", "'{0:h}, 1;' where a register should be"},
  };
  for (auto [text, words] : texts) {
    auto statements = parse(text);
    ASSERT_FALSE(statements) << text;
    EXPECT_EQ(statements.error(), words) << text;
  }
}

TEST(PtxParser, empty_text_says_nothing) { EXPECT_TRUE(parsed(" \n ; ").empty()); }
} // namespace
} // namespace opsight::cuda::ptx
