// The vendor's functions are judged like any other candidate, against double precision, on a few sizes of each operator.
#include "judge/judge.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>

namespace opsight {
namespace {

class Vendors : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    auto opened = card::Session::open("cpu", {});
    ASSERT_TRUE(opened) << describe(opened.error());
    session = std::move(opened.value());
  }
  /// None where the vendor takes no such options.
  std::optional<judge::Verdict> verdictUnder(const ops::Operator &op, const ops::Options &partial) {
    ops::Options options = *op.completeOptions(partial);
    std::vector<ops::Case> all = op.cases(options), some;
    for (const ops::Case &c : all)
      if (c.distribution == "normal" && std::ranges::all_of(c.symbols, [](auto &s) { return s.second > 0 && s.second < 1500; }))
        some.push_back(c);
    auto vendor = judge::vendorReference(op);
    judge::Bar bar{.maxError = 1e-5, .accuracyOnly = true};
    auto verdict = judge::judge(*session, op, *vendor, nullptr, some, {}, bar, 1, {});
    if (!verdict) {
      EXPECT_THAT(verdict.error().what, testing::HasSubstr("vendor's function is called with"));
      return std::nullopt;
    }
    return *verdict;
  }
  std::unique_ptr<card::Session> session;
};

TEST_P(Vendors, AreRightUnderEveryOptionThatTheyTake) {
  const ops::Operator &op = **ops::findOperator(GetParam());
  ASSERT_TRUE(judge::vendorReference(op));
  std::vector<ops::Options> every{{}};
  for (const ops::OptionInfo &option : op.options())
    for (size_t n = 0, was = every.size(); n < was; ++n)
      for (size_t value = 1; value < option.values.size(); ++value) {
        ops::Options more = every[n];
        more[option.name] = option.values[value];
        every.push_back(more);
      }
  size_t tried = 0;
  for (const ops::Options &options : every) {
    auto verdict = verdictUnder(op, options);
    if (!verdict)
      continue;
    tried += verdict->accuracy.cases.size();
    std::string text;
    for (const auto &[name, value] : options)
      text += name + "=" + value + " ";
    for (const judge::CaseResult &c : verdict->accuracy.cases)
      EXPECT_TRUE(c.pass) << text << c.c.name << ": " << c.detail << " " << c.error;
  }
  EXPECT_GT(tried, 5u);
}

INSTANTIATE_TEST_SUITE_P(OneDnn, Vendors, testing::Values("softmax", "softmax_backward", "layernorm", "layernorm_backward", "matmul"));

TEST(Vendor, HasNothingForRootMeanSquares) {
  EXPECT_FALSE(judge::vendorReference(**ops::findOperator("rmsnorm")));
  EXPECT_FALSE(judge::vendorReference(**ops::findOperator("rmsnorm_backward")));
}

} // namespace
} // namespace opsight
