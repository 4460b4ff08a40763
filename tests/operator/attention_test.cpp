// The meaning of attention, pinned by small problems whose answers are known by hand (S… are public reports), and the
// promises of its cases.
#include "operator/operator.h"
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <set>

namespace opsight::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

constexpr double none = -std::numeric_limits<double>::infinity();
const Operator &attention() { return **findOperator("scaled_dot_product_attention"); }

Case make(Symbols symbols, const char *distribution = "normal", Options options = {},
          std::map<std::string, std::string> traits = {}) {
  Case c;
  c.name = "case";
  c.symbols = std::move(symbols);
  c.distribution = distribution;
  c.options = std::move(options);
  c.traits = std::move(traits);
  auto complete = attention().completeCase(c);
  EXPECT_TRUE(complete) << (complete ? "" : describe(complete.error()));
  return complete ? *complete : c;
}
std::vector<double> outputOf(const Case &c) { return attention().make(c, 1)->outputs.at("output"); }
std::vector<double> lseOf(const Case &c) { return attention().make(c, 1)->outputs.at("lse"); }

/// key-index: q = 0 and v_j = j + 1, so that the output is the mean number of the keys seen.
std::vector<double> seenBy(int64_t L, int64_t S, const char *causal) {
  return outputOf(make({{"L", L}, {"S", S}, {"D", 4}, {"Dv", 1}}, "key-index", {{"causal", causal}}));
}

TEST(Attention, AnchorsTopLeftAtTheFirstKey) { // S04
  EXPECT_THAT(seenBy(2, 5, "top-left"), ElementsAre(1, 1.5));
  EXPECT_THAT(seenBy(5, 2, "top-left"), ElementsAre(1, 1.5, 1.5, 1.5, 1.5));
  EXPECT_THAT(seenBy(1, 8, "top-left"), ElementsAre(1));
}

TEST(Attention, AnchorsBottomRightAtTheLastKeyAndEmptyRowsAreZero) { // S05
  EXPECT_THAT(seenBy(2, 5, "bottom-right"), ElementsAre(2.5, 3));
  EXPECT_THAT(seenBy(5, 2, "bottom-right"), ElementsAre(0, 0, 0, 1, 1.5));
  std::vector<double> lse = lseOf(make({{"L", 5}, {"S", 2}}, "key-index", {{"causal", "bottom-right"}}));
  EXPECT_THAT(lse, ElementsAre(none, none, none, 0, testing::DoubleNear(std::log(2.0), 1e-15)));
}

TEST(Attention, GivesZeroWhereAMaskHidesEveryKey) { // S01
  Case c = make({{"L", 4}, {"D", 2}, {"Dv", 1}}, "key-index", {{"mask", "bool"}}, {{"mask", "tile-empty"}, {"mask_parameter", "1"}});
  EXPECT_THAT(outputOf(c), ElementsAre(0, 2.5, 2.5, 2.5));
  EXPECT_THAT(lseOf(c), ElementsAre(none, testing::DoubleNear(1.386294361, 1e-8), testing::_, testing::_));
}

TEST(Attention, AddsAMaskOfZerosAndOnesAsNumbers) { // S02
  Case c = make({{"L", 1}, {"S", 4}, {"Dv", 1}}, "key-index", {{"mask", "additive"}},
                {{"mask", "padding-right"}, {"mask_parameter", "2"}, {"mask_values", "zero-one"}});
  EXPECT_NEAR(outputOf(c).front(), 2.0378828, 1e-7);
}

TEST(Attention, SkipsAFirstTileThatIsMasked) { // S09
  Case padding = make({{"L", 1}, {"S", 128}, {"Dv", 1}}, "key-index", {{"mask", "bool"}},
                      {{"mask", "padding-left"}, {"mask_parameter", "64"}});
  EXPECT_DOUBLE_EQ(outputOf(padding).front(), 96.5); // keys are numbered from 1
  Case window = make({{"L", 128}, {"Dv", 1}}, "key-index", {{"mask", "bool"}}, {{"mask", "sliding"}, {"mask_parameter", "16"}});
  EXPECT_DOUBLE_EQ(outputOf(window)[100], 93.5);
}

TEST(Attention, RepeatsGroupedHeadsForNeighbours) { // S06
  std::vector<double> out = outputOf(make({{"H", 4}, {"Hkv", 2}, {"L", 1}, {"S", 64}, {"Dv", 1}}, "head-index"));
  for (int h : {0, 1, 2, 3})
    EXPECT_NEAR(out[size_t(h)], h < 2 ? 1 : 2, 0.2);
}

TEST(Attention, ScalesByTheQuerysWidthWhateverTheValues) { // S20
  EXPECT_NEAR(*attention().scalarOf(make({{"L", 8}, {"S", 36}, {"D", 32}, {"Dv", 24}}), "scale"), 0.1767767, 1e-7);
}

TEST(Attention, LeavesLongRowsOfEqualWeightsExact) { // S15, S34
  for (double x : outputOf(make({{"L", 2}, {"S", 8192}}, "ones")))
    EXPECT_NEAR(x, 1, 1e-12);
}

TEST(Attention, GivesZerosWithoutKeysAndNothingWithoutQueries) { // S13
  EXPECT_THAT(outputOf(make({{"L", 2}, {"S", 0}, {"Dv", 2}})), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(lseOf(make({{"L", 2}, {"S", 0}})), ElementsAre(none, none));
  EXPECT_TRUE(outputOf(make({{"L", 0}, {"S", 8}})).empty());
  EXPECT_TRUE(outputOf(make({{"B", 0}, {"L", 8}})).empty());
}

TEST(Attention, BroadcastsMasksFromTheRight) { // S24
  for (const char *shape : {"1,1,1,S", "B,1,1,S", "1,H,L,S", "L,S"}) {
    Case c = make({{"B", 2}, {"H", 3}, {"L", 4}, {"S", 6}}, "normal", {{"mask", "bool"}}, {{"mask_shape", shape}});
    Problem problem = *attention().make(c, 3);
    Presented dense = attention().present(c, problem, {});
    EXPECT_THAT(dense.inputs.at("mask").shape, ElementsAre(2, 3, 4, 6)) << shape;
    Presented strided = attention().present(c, problem, {"mask_stride_b", "mask_stride_h", "mask_stride_l"});
    EXPECT_EQ(strided.inputs.at("mask").shape, problem.inputs.at("mask").shape);
    auto stride = [&](const char *name) { return strided.symbols.at(name); };
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t h = 0; h < 3; ++h)
        for (int64_t i = 0; i < 4; ++i)
          for (int64_t j = 0; j < 6; ++j)
            EXPECT_EQ(strided.inputs.at("mask").bytes[size_t(b * stride("mask_stride_b") + h * stride("mask_stride_h") +
                                                             i * stride("mask_stride_l") + j)],
                      dense.inputs.at("mask").bytes[size_t(((b * 3 + h) * 4 + i) * 6 + j)]);
  }
}

TEST(Attention, MakesTheSameDataForTheSameSeedAndOtherDataForAnother) {
  Case c = make({{"L", 4}});
  EXPECT_EQ(attention().make(c, 1)->inputs.at("key").bytes, attention().make(c, 1)->inputs.at("key").bytes);
  EXPECT_NE(attention().make(c, 1)->inputs.at("key").bytes, attention().make(c, 2)->inputs.at("key").bytes);
}

TEST(Attention, CountsCausalWorkDenseAndItsLeastHalved) {
  Work dense = attention().work(make({{"H", 8}, {"L", 1024}}));
  Work causal = attention().work(make({{"H", 8}, {"L", 1024}}, "normal", {{"causal", "top-left"}}));
  EXPECT_EQ(dense.flops, 4.0 * 8 * 1024 * 1024 * 64);
  EXPECT_EQ(causal.flops, dense.flops);
  EXPECT_EQ(dense.leastFlops, dense.flops);
  EXPECT_NEAR(causal.leastFlops / dense.flops, 0.5, 1e-3);
}

std::string refusal(Symbols symbols, Options options = {}, std::string distribution = "normal") {
  Case c;
  c.name = "x";
  c.symbols = std::move(symbols);
  c.options = std::move(options);
  c.distribution = std::move(distribution);
  auto complete = attention().completeCase(c);
  if (complete)
    return "accepted";
  EXPECT_EQ(complete.error().kind, ErrorKind::User);
  return complete.error().what;
}

TEST(AttentionCase, RefusesWhatMakesNoSense) {
  EXPECT_THAT(refusal({{"H", 6}, {"Hkv", 4}, {"L", 2}}), HasSubstr("no multiple of Hkv = 4"));
  EXPECT_THAT(refusal({{"L", -1}}), HasSubstr("negative"));
  EXPECT_THAT(refusal({{"H", 2}}), HasSubstr("does not say L"));
  EXPECT_THAT(refusal({{"L", 2}, {"Z", 3}}), HasSubstr("unknown symbol 'Z'"));
  EXPECT_THAT(refusal({{"L", 2}, {"D", 0}}), HasSubstr("at least 1"));
  EXPECT_THAT(refusal({{"L", 2}}, {{"causal", "top-lefd"}}), HasSubstr("top-left"));
  EXPECT_THAT(refusal({{"L", 2}}, {{"casual", "none"}}), HasSubstr("causal"));
  EXPECT_THAT(refusal({{"L", 2}}, {}, "gaussian"), HasSubstr("distribution"));
}

TEST(AttentionCase, RefusesAMillionMillionElementsBeforeMemoryIsTaken) {
  EXPECT_THAT(refusal({{"L", 1'000'000'000'000}, {"S", 1}}), HasSubstr("MiB"));
  // A number of MiB that no integer holds is still told, not wrapped around.
  EXPECT_THAT(refusal({{"B", int64_t(1) << 62}, {"H", 8}, {"L", int64_t(1) << 62}}), HasSubstr("needs 2.51e+35 MiB"));
}

TEST(AttentionCases, AreAtLeastFortyAndCompleteUnderEveryOption) {
  for (const char *causal : {"none", "top-left", "bottom-right"})
    for (const char *mask : {"none", "bool", "additive"}) {
      std::vector<Case> cases = attention().cases({{"causal", causal}, {"mask", mask}});
      EXPECT_GE(cases.size(), 40u);
      std::set<std::string> names;
      double flops = 0;
      for (const Case &c : cases) {
        EXPECT_TRUE(attention().completeCase(c)) << c.name;
        EXPECT_TRUE(names.insert(c.name).second) << c.name << " is there twice";
        EXPECT_FALSE(c.note.empty());
        flops += attention().work(c).flops;
      }
      EXPECT_LT(flops, 1.5e9) << "a slow kernel would take too long";
    }
}

TEST(AttentionCases, AskWhatAPlainFloatEvaluationCanGiveUnlessTheirNotesSayOtherwise) { // pitfalls 14
  for (const char *mask : {"none", "additive"})
    for (const Case &c : attention().cases({{"causal", "none"}, {"mask", mask}}))
      for (uint64_t seed : {17, 18}) {
        Problem problem = *attention().make(c, seed);
        EXPECT_EQ(problem.wellConditioned(), !c.note.starts_with("ill-conditioned")) << c.name << " " << problem.plainError;
      }
}

TEST(AttentionCases, AreCalledIllConditionedByTheirDataAndNotByTheirName) {
  Case c;
  c.symbols = {{"L", 33}, {"S", 70}};
  c.distribution = "normal";
  c = *attention().completeCase(c);
  EXPECT_TRUE(attention().make(c, 3)->wellConditioned());
  c.scalars["scale"] = 4; // 32 times the usual one
  EXPECT_FALSE(attention().make(c, 3)->wellConditioned());
  c.distribution = "large-normal";
  c.scalars["scale"] = 0;
  EXPECT_TRUE(attention().make(c, 3)->wellConditioned());
}

TEST(AttentionCases, SampleRowsOfALargeProblemToTellItsCondition) {
  Case c;
  c.symbols = {{"H", 4}, {"L", 1024}};
  c = *attention().completeCase(c);
  Problem problem = *attention().make(c, 5);
  EXPECT_GT(problem.plainError, 1e-7);
  EXPECT_GT(problem.plainRms, 1e-8);
  EXPECT_LT(problem.plainRms, 2e-7) << "rows that were not evaluated must not be compared";
}

TEST(AttentionCases, SetTheMaximaOfNeighbouringRowsApartByMoreThanAFloatCanSpan) {
  for (int64_t D : {16, 64, 80}) {
    Case c;
    c.symbols = {{"L", 12}, {"S", 70}, {"D", D}};
    c.distribution = "see-saw";
    c = *attention().completeCase(c);
    Problem problem = *attention().make(c, 5);
    const std::vector<double> &lse = problem.outputs.at("lse");
    for (size_t row = 1; row < lse.size(); ++row)
      EXPECT_GT(std::abs(lse[row] - lse[row - 1]), 104) << "exp(-104) is 0 in float";
  }
}

TEST(AttentionCases, GiveFiniteAnswersAndHiddenRowsAsZero) {
  for (const Case &c : attention().cases({{"causal", "bottom-right"}, {"mask", "bool"}})) {
    Problem problem = *attention().make(c, 23);
    for (double x : problem.outputs.at("output"))
      ASSERT_TRUE(std::isfinite(x)) << c.name;
  }
}

} // namespace
} // namespace opsight::ops
