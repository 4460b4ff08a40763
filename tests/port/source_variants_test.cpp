// Changes to a user's source: what may be changed, and that nothing else is.
#include "port/source_variants.h"
#include <gtest/gtest.h>

using namespace opsight;
using namespace opsight::port;
using Kind = cuda::Fact::Kind;

namespace {

const std::string source = "__global__ void k(float *a, int n) {\n"
                           "  __shared__ float tile[32][W(32)];\n"
                           "  __shared__ float row[32];\n"
                           "  for (int i = 0; i < n; ++i)\n"
                           "    a[i] = 0;\n"
                           "#pragma unroll\n"
                           "  for (int i = 0; i < n; ++i)\n"
                           "    a[i] = 1;\n"
                           "}\n";

cuda::Fact fact(Kind kind, unsigned line, const std::string &what, const std::string &file = "k.cu") {
  return {.kind = kind, .where = {file, line, 3}, .what = what};
}

std::vector<SourceVariant> of(std::vector<cuda::Fact> facts) {
  cuda::Facts all;
  all.all = std::move(facts);
  return sourceVariants(source, all, "k.cu");
}

TEST(SourceVariants, RowsOfASharedArrayBecomeLongerByOne) {
  auto variants = of({fact(Kind::SharedArray, 2, "float tile[32][32]")});
  ASSERT_EQ(variants.size(), 1u);
  EXPECT_EQ(variants[0].name, "pad tile");
  EXPECT_EQ(lineDiff(source, variants[0].text, "k.cu"), "--- a/k.cu\n+++ b/k.cu\n@@ -2,1 +2,1 @@\n"
                                                        "-  __shared__ float tile[32][W(32)];\n"
                                                        "+  __shared__ float tile[32][W(32) + 1];\n");
}

TEST(SourceVariants, AnArrayOfOneDimensionIsLeftAlone) {
  EXPECT_TRUE(of({fact(Kind::SharedArray, 3, "float row[32]")}).empty());
}

TEST(SourceVariants, ALoopThatNothingUnrollsIsUnrolled) {
  auto variants = of({fact(Kind::Loop, 4, "for")});
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(lineDiff(source, variants[1].text, "k.cu"),
            "--- a/k.cu\n+++ b/k.cu\n@@ -3,0 +4,1 @@\n+  #pragma unroll 4\n");
}

TEST(SourceVariants, ALoopThatIsUnrolledAlreadyIsLeftAlone) {
  cuda::Fact asked = fact(Kind::Loop, 7, "for");
  EXPECT_TRUE(of({asked}).empty()) << "a pragma stands before it";
  cuda::Fact constant = fact(Kind::Loop, 4, "for");
  constant.trips = 32;
  EXPECT_TRUE(of({constant}).empty()) << "its count is known, and the compiler decides";
}

TEST(SourceVariants, WhatStandsInAHeaderIsLeftAlone) {
  EXPECT_TRUE(of({fact(Kind::Loop, 4, "for", "k.h"), fact(Kind::SharedArray, 2, "float tile[32][32]", "k.h")}).empty());
}

TEST(SourceVariants, PlacesBeyondTheTextAreLeftAlone) {
  EXPECT_TRUE(of({fact(Kind::Loop, 400, "for"), fact(Kind::SharedArray, 0, "float tile[32][32]")}).empty());
}

} // namespace
