// What others than the judge find out about a candidate: it counts, and a faulty one is not timed.
#include "judge/fake.h"
#include "judge/judge.h"
#include <algorithm>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opsight {
namespace {

using testing::Contains, testing::HasSubstr, testing::Not;

struct Looked {
  judge::Verdict verdict;
  const judge::Check &check(const std::string &name) const {
    return *std::ranges::find(verdict.checks, name, &judge::Check::name);
  }
};

Looked look(std::vector<judge::Check> found, fake::Kernel kernel = fake::Kernel([](fake::Attention &a) {
                                               auto end =
                                                   std::chrono::steady_clock::now() + std::chrono::microseconds(100);
                                               fake::right(a);
                                               while (std::chrono::steady_clock::now() < end)
                                                 ;
                                               return card::Launched{.seconds = 1e-4};
                                             })) {
  const ops::Operator &op = **ops::findOperator("scaled_dot_product_attention");
  fake::Session session;
  session.kernels["candidate"] = kernel;
  session.kernels["reference"] = kernel;
  fake::Candidate mine("candidate"), theirs("reference", false, "vendor");
  ops::Case c;
  c.symbols = {{"B", 1}, {"H", 2}, {"L", 6}, {"S", 6}, {"D", 4}};
  std::vector<ops::Case> cases{*op.completeCase(c)};
  auto verdict =
      judge::judge(session, op, mine, &theirs, cases, cases, {}, 3, {}, [&](const judge::Accuracy &) { return found; });
  EXPECT_TRUE(verdict) << describe(verdict.error());
  return {verdict.value_or(judge::Verdict{})};
}

TEST(Further, AFaultThatWasFoundIsAReasonAndForbidsTiming) {
  Looked seen = look({{"race", false, "k.cu:3: two threads"}});
  EXPECT_FALSE(seen.verdict.pass);
  EXPECT_TRUE(seen.verdict.accuracy.pass);
  EXPECT_THAT(seen.verdict.reasons, Contains("race"));
  EXPECT_EQ(seen.check("race").detail, "k.cu:3: two threads");
  ASSERT_TRUE(seen.verdict.speed);
  EXPECT_TRUE(seen.verdict.speed->cases.empty());
  EXPECT_THAT(seen.verdict.speed->notMeasured, HasSubstr("a check failed"));
}

TEST(Further, AFaultBesidesWhatTheJudgeSawItselfReplacesItsPass) {
  Looked seen = look({{"out_of_bounds", false, "k.cu:9: reads q[64]"}});
  EXPECT_EQ(seen.check("out_of_bounds").pass, false);
  EXPECT_EQ(seen.check("out_of_bounds").detail, "k.cu:9: reads q[64]");
}

TEST(Further, WhatWasLookedForAndNotFoundCompletesTheCheck) {
  Looked seen = look({{"race", true, "none"}, {"out_of_bounds", true, "none either"}});
  EXPECT_TRUE(seen.verdict.pass);
  EXPECT_EQ(seen.check("race").pass, true);
  EXPECT_THAT(seen.check("out_of_bounds").detail, HasSubstr("; none either"));
  EXPECT_FALSE(seen.verdict.speed->cases.empty());
}

TEST(Further, WhatCouldNotBeLookedForLeavesOtherChecksAsTheyAre) {
  Looked seen = look({{"out_of_bounds", std::nullopt, "not watched"}, {"race", std::nullopt, "not watched"}});
  EXPECT_TRUE(seen.verdict.pass);
  EXPECT_EQ(seen.check("out_of_bounds").pass, true);
  EXPECT_THAT(seen.check("out_of_bounds").detail, Not(HasSubstr("not watched")));
  EXPECT_EQ(seen.check("race").pass, std::nullopt);
}

} // namespace
} // namespace opsight
