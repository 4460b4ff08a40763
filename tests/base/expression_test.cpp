#include "base/expression.h"
#include <gtest/gtest.h>

using namespace opsight;

static int64_t value(const char *text) { return evaluate(text, {{"L", 1000}, {"H", 8}}).value(); }
static std::string fault(const char *text) { return evaluate(text, {{"L", 1000}, {"H", 8}}).error().what; }

TEST(Expression, FollowsPrecedenceAndParentheses) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3 % 4"), 1);
  EXPECT_EQ(value("-2 - -3"), 1);
  EXPECT_EQ(value("8 / 2 / 2"), 2);
}
TEST(Expression, CeilDivCoversTheTail) {
  EXPECT_EQ(value("ceil_div(L, 64) * H"), 128);
  EXPECT_EQ(value("ceil_div(0, 64)"), 0);
}
TEST(Expression, MinAndMaxTakeTwoValues) {
  EXPECT_EQ(value("min(L, 64)"), 64);
  EXPECT_EQ(value("max(L, 64)"), 1000);
  EXPECT_NE(fault("min(L)").find("two values"), std::string::npos);
}
TEST(Expression, ComparisonsAreOneOrZero) {
  EXPECT_EQ(value("L % 8 == 0"), 1);
  EXPECT_EQ(value("L != 1000"), 0);
  EXPECT_EQ(value("H <= 8"), 1);
  EXPECT_EQ(value("H < 8"), 0);
  EXPECT_EQ(value("H >= 9"), 0);
  EXPECT_EQ(value("L > H + 991"), 1);
  EXPECT_EQ(value("64 * (L > 512) + 32"), 96);
  EXPECT_NE(fault("1 < 2 < 3").find("unexpected"), std::string::npos);
  EXPECT_NE(fault("1 = 2").find("unexpected"), std::string::npos);
}
TEST(Expression, ValuesTakeThePlacesOfWholeNames) {
  EXPECT_EQ(withValues("<keys, key, keys_of(key)>", {{"key", 4}, {"keys", 64}}), "<64, 4, keys_of(4)>");
  EXPECT_EQ(withValues("", {{"key", 4}}), "");
}
TEST(Expression, UnknownSymbolNamesTheNearest) {
  EXPECT_NE(fault("ceil_div(l, 64)").find("did you mean 'L'"), std::string::npos);
}
TEST(Expression, FaultsAreErrorsNotCrashes) {
  EXPECT_NE(fault("L / (H - 8)").find("division by zero"), std::string::npos);
  EXPECT_NE(fault("9223372036854775807 + 1").find("64 bits"), std::string::npos);
  EXPECT_NE(fault("(1").find("')' is missing"), std::string::npos);
  EXPECT_NE(fault("").find("ends too early"), std::string::npos);
  EXPECT_NE(fault("1 2").find("unexpected"), std::string::npos);
  EXPECT_NE(fault(std::string(100000, '(').c_str()).find("deeply"), std::string::npos);
  EXPECT_NE(fault(std::string(100000, '-').c_str()).find("deeply"), std::string::npos);
}
TEST(Expression, SymbolsOfListsEachOnce) {
  EXPECT_EQ(symbolsOf("L * L + H / (L - 1)").value(), (std::vector<std::string>{"L", "H"}));
}
