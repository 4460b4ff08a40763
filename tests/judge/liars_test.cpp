// Wrong kernels of every kind that has fooled a published judge; each must fail, and for the right reason.
#include "fake.h"
#include "operator/random.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opsight {
namespace {

using fake::Attention;
using testing::Contains;
using testing::IsEmpty;
using End = card::Launched::End;

const ops::Operator &attention() { return **ops::findOperator("scaled_dot_product_attention"); }

ops::Case shape(const char *name, Symbols symbols, const char *distribution = "normal", ops::Options options = {}) {
  ops::Case c;
  c.name = name;
  c.symbols = std::move(symbols);
  c.distribution = distribution;
  c.options = std::move(options);
  return *attention().completeCase(c);
}
/// A few small cases that together show every fault of this file.
std::vector<ops::Case> fewCases() {
  return {shape("plain", {{"H", 2}, {"L", 20}, {"S", 40}, {"D", 16}}),
          shape("tail", {{"B", 2}, {"H", 4}, {"Hkv", 2}, {"L", 33}, {"S", 65}, {"D", 16}}, "peaked"),
          shape("large", {{"L", 10}, {"S", 70}, {"D", 64}}, "exact-large"),
          shape("one", {{"L", 1}, {"S", 1}, {"D", 4}})};
}

judge::Verdict judged(fake::Kernel kernel, std::vector<ops::Case> cases = fewCases(), judge::Bar bar = {}) {
  fake::Session session;
  session.kernels["k"] = std::move(kernel);
  fake::Candidate candidate("k");
  auto verdict = judge::judge(session, attention(), candidate, nullptr, cases, {}, bar, 1, {});
  EXPECT_TRUE(verdict) << describe(verdict.error());
  return verdict ? *verdict : judge::Verdict{};
}

void expectFail(fake::Kernel kernel, const char *reason) {
  judge::Verdict verdict = judged(std::move(kernel));
  EXPECT_FALSE(verdict.pass);
  EXPECT_THAT(verdict.reasons, Contains(reason));
}

/// A kernel that is right but for what `spoil` does afterwards.
fake::Kernel rightThen(std::function<void(Attention &)> spoil) {
  return fake::kernel([spoil](Attention &a) {
    fake::right(a);
    spoil(a);
  });
}

TEST(Judge, PassesARightKernel) {
  judge::Verdict verdict = judged(fake::kernel(fake::right));
  EXPECT_TRUE(verdict.pass);
  EXPECT_THAT(verdict.reasons, IsEmpty());
  EXPECT_LT(verdict.accuracy.maxError, 2e-6);
  EXPECT_EQ(verdict.accuracy.cases.size(), fewCases().size());
}

TEST(Judge, FailsAnEmptyKernelAsUnwritten) { expectFail(fake::kernel([](Attention &) {}), "unwritten"); }

TEST(Judge, FailsAKernelThatSkipsItsLastRow) {
  expectFail(fake::kernel([](Attention &a) {
               for (int64_t row = 0; row + 1 < a.rows(); ++row)
                 fake::rightRow(a, row);
             }),
             "unwritten");
}

TEST(Judge, FailsOneNanAmongRightValues) {
  expectFail(rightThen([](Attention &a) { a.o[a.rows() * a.Dv / 2] = std::nanf(""); }), "nan");
}

TEST(Judge, FailsAnInfinityWhereANumberIsRight) {
  expectFail(rightThen([](Attention &a) { a.o[0] = INFINITY; }), "nan");
}

TEST(Judge, FailsAWrongLseBesideARightOutput) {
  expectFail(rightThen([](Attention &a) { a.lse[0] += 1; }), "error");
}

TEST(Judge, FailsAConstantOutput) {
  expectFail(fake::kernel([](Attention &a) { std::fill_n(a.o, a.rows() * a.Dv, 0.0f); }), "constant");
}

TEST(Judge, RefusesZerosEvenWhereOutputsAreBelowTheBar) {
  judge::Verdict verdict = judged(rightThen([](Attention &a) { std::fill_n(a.o, a.rows() * a.Dv, 0.0f); }),
                                  {shape("small outputs", {{"L", 3}, {"S", 4000}, {"D", 8}})}, {.maxError = 0.5});
  EXPECT_FALSE(verdict.pass);
  EXPECT_THAT(verdict.reasons, Contains("constant"));
}

TEST(Judge, FailsUniformNoiseAndPermutedRows) {
  expectFail(rightThen([](Attention &a) {
               ops::Random random(7);
               for (int64_t n = 0; n < a.rows() * a.Dv; ++n)
                 a.o[n] = float(random.normal());
             }),
             "error");
  expectFail(rightThen([](Attention &a) { std::rotate(a.o, a.o + a.Dv, a.o + a.rows() * a.Dv); }), "error");
}

TEST(Judge, FailsAKernelThatChangesItsInput) {
  expectFail(rightThen([](Attention &a) { a.q[a.D - 1] = 0; }), "input_modified");
}

TEST(Judge, FailsAWriteOneElementPastTheEnd) {
  expectFail(rightThen([](Attention &a) { a.o[a.rows() * a.Dv] = 1; }), "out_of_bounds");
}

TEST(Judge, FailsAWriteBeforeAnInput) { expectFail(rightThen([](Attention &a) { a.k[-1] = 1; }), "out_of_bounds"); }

TEST(Judge, FailsAKernelWhoseSecondRunDiffers) {
  expectFail(rightThen([](Attention &a) { a.o[0] *= 1 + 1e-6f * float(a.call % 2); }), "not_repeatable");
}

TEST(Judge, AllowsLastBitsToDifferOnlyWithFloatAtomics) {
  fake::Session session;
  session.kernels["k"] = rightThen([](Attention &a) { a.o[0] *= 1 + 1e-6f * float(a.call % 2); });
  fake::Candidate candidate("k");
  candidate.artifact->manifest.usesFloatAtomics = true;
  auto verdict = judge::judge(session, attention(), candidate, nullptr, fewCases(), {}, {}, 1, {});
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->pass);
}

TEST(Judge, FailsAKernelThatReplaysItsFirstAnswer) {
  auto memory = std::make_shared<std::map<std::vector<int64_t>, std::vector<float>>>();
  expectFail(fake::kernel([memory](Attention &a) {
               auto &kept = (*memory)[{a.B, a.H, a.L, a.S, a.D}];
               if (kept.empty()) {
                 fake::right(a);
                 kept.assign(a.o, a.o + a.rows() * a.Dv);
               }
               std::copy(kept.begin(), kept.end(), a.o);
               for (int64_t r = 0; r < a.rows(); ++r)
                 a.lse[r] = 0;
             }),
             "error");
}

TEST(Judge, FailsAKernelThatRemembersAnAddress) {
  auto memory = std::make_shared<std::map<const float *, std::vector<float>>>();
  expectFail(fake::kernel([memory](Attention &a) {
               auto &kept = (*memory)[a.q];
               if (kept.size() == size_t(a.rows() * a.Dv)) {
                 std::copy(kept.begin(), kept.end(), a.o);
                 return;
               }
               fake::right(a);
               kept.assign(a.o, a.o + a.rows() * a.Dv);
             }),
             "error");
}

TEST(Judge, FailsAKernelThatAddsToWhatTheOutputHeld) {
  expectFail(fake::kernel([](Attention &a) {
               std::vector<float> before(a.o, a.o + a.rows() * a.Dv);
               fake::right(a);
               for (size_t n = 0; n < before.size(); ++n)
                 a.o[n] += 0 * before[n]; // beta = 0 that still reads (N07)
             }),
             "uninitialised");
}

TEST(Judge, FailsNaiveSoftmaxOnLargeLogits) {
  expectFail(fake::kernel([](Attention &a) {
               for (int64_t row = 0; row < a.rows(); ++row) {
                 float sum = 0;
                 std::vector<float> acc(a.Dv, 0.0f);
                 for (int64_t j = 0; j < a.S; ++j) {
                   float p = std::exp(a.score(row, j));
                   sum += p;
                   for (int64_t d = 0; d < a.Dv; ++d)
                     acc[d] += p * a.value(row, j)[d];
                 }
                 for (int64_t d = 0; d < a.Dv; ++d)
                   a.o[row * a.Dv + d] = acc[d] / sum;
                 a.lse[row] = std::log(sum);
               }
             }),
             "nan");
}

TEST(Judge, FailsAMeanOfValuesThatSkipsSoftmax) {
  expectFail(fake::kernel([](Attention &a) {
               a.scale = 0;
               fake::right(a);
             }),
             "error");
}

TEST(Judge, FailsAScaleTakenFromElsewhere) {
  expectFail(fake::kernel([](Attention &a) {
               a.scale = 1;
               fake::right(a);
             }),
             "error");
}

TEST(Judge, FailsGroupedHeadsThatTile) {
  expectFail(fake::kernel([](Attention &a) {
               Attention b = a;
               for (int64_t h = 0; h < a.H; ++h)
                 for (int64_t n = 0; n < a.B; ++n) {
                   b.B = b.H = b.Hkv = 1;
                   b.q = a.q + (n * a.H + h) * a.L * a.D, b.o = a.o + (n * a.H + h) * a.L * a.Dv;
                   b.lse = a.lse + (n * a.H + h) * a.L;
                   b.k = a.k + (n * a.Hkv + h % a.Hkv) * a.S * a.D, b.v = a.v + (n * a.Hkv + h % a.Hkv) * a.S * a.Dv;
                   fake::right(b);
                 }
             }),
             "error");
}

TEST(Judge, CallsTenBitMantissasByTheirName) {
  auto tf32 = [](float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    bits = (bits + 0x1000) & ~0x1FFFu;
    std::memcpy(&x, &bits, 4);
    return x;
  };
  judge::Verdict verdict = judged(
      fake::kernel([tf32](Attention &a) {
        std::vector<float> q(a.q, a.q + a.rows() * a.D), k(a.k, a.k + a.B * a.Hkv * a.S * a.D),
            v(a.v, a.v + a.B * a.Hkv * a.S * a.Dv);
        for (auto *t : {&q, &k, &v})
          std::ranges::transform(*t, t->begin(), tf32);
        Attention rounded = a;
        rounded.q = q.data(), rounded.k = k.data(), rounded.v = v.data();
        fake::right(rounded);
      }),
      fewCases(), {.maxError = 1e-2}); // within the bar, and still not what it declares
  EXPECT_FALSE(verdict.pass);
  EXPECT_THAT(verdict.reasons, Contains("precision"));
}

struct Ending {
  End end;
  bool outOfBounds;
  const char *reason;
  const char *name;
};
class Endings : public testing::TestWithParam<Ending> {};
TEST_P(Endings, AreReasonsWithTheWorkersWords) {
  judge::Verdict verdict = judged([](Attention &) {
    return card::Launched{.end = GetParam().end, .detail = "the worker's words", .outOfBounds = GetParam().outOfBounds};
  });
  EXPECT_FALSE(verdict.pass);
  EXPECT_THAT(verdict.reasons, Contains(GetParam().reason));
  ASSERT_FALSE(verdict.accuracy.cases.empty());
  EXPECT_THAT(verdict.accuracy.cases.front().detail, testing::HasSubstr("the worker's words"));
}
INSTANTIATE_TEST_SUITE_P(Judge, Endings,
                         testing::Values(Ending{End::Crash, false, "crash", "Crash"},
                                         Ending{End::Crash, true, "out_of_bounds", "OutOfBounds"},
                                         Ending{End::Hang, false, "hang", "Hang"},
                                         Ending{End::Refused, false, "limits", "Refused"},
                                         Ending{End::Assert, false, "crash", "Assert"},
                                         Ending{End::Barrier, false, "barrier", "Barrier"},
                                         Ending{End::Sandbox, false, "crash", "Sandbox"}),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Judge, ListsASystemCallAmongTheChecks) {
  auto check = [](const judge::Verdict &verdict) {
    return std::ranges::find(verdict.checks, "system_calls", &judge::Check::name)->pass;
  };
  EXPECT_EQ(check(judged([](Attention &) { return card::Launched{.end = End::Sandbox, .detail = "execve"}; })), false);
  EXPECT_EQ(check(judged(fake::kernel(fake::right))), true);
}

TEST(Judge, StopsAfterTheFirstHangAndCountsTheRestAsNotTried) {
  fake::Session session;
  session.kernels["k"] = [](Attention &) { return card::Launched{.end = End::Hang, .detail = "30 s"}; };
  fake::Candidate candidate("k");
  auto verdict = judge::judge(session, attention(), candidate, nullptr, fewCases(), {}, {}, 1, {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(session.launches, 1);
  EXPECT_EQ(verdict->accuracy.notTried.size(), fewCases().size() - 1);
  EXPECT_THAT(verdict->accuracy.notTried.front().why, testing::HasSubstr("hung in case 'plain'"));
}

TEST(Judge, FailsAHangOnLongSequencesOnly) {
  judge::Verdict verdict = judged([](Attention &a) {
    return a.S > 64 ? card::Launched{.end = End::Hang, .detail = "30 s"} : fake::kernel(fake::right)(a);
  });
  EXPECT_THAT(verdict.reasons, Contains("hang"));
}

TEST(Judge, FailsALaunchWithoutThreadsWhereThereIsOutput) {
  fake::Session session;
  session.kernels["k"] = fake::kernel(fake::right);
  fake::Candidate candidate("k");
  candidate.build.launch.grid.y = 0;
  auto verdict = judge::judge(session, attention(), candidate, nullptr, fewCases(), {}, {}, 1, {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(session.launches, 0);
  EXPECT_THAT(verdict->reasons, Contains("limits"));
}

TEST(Judge, GivesNoVerdictWhenEveryCaseIsOutsideTheLimits) {
  fake::Session session;
  session.kernels["k"] = fake::kernel(fake::right);
  fake::Candidate candidate("k");
  candidate.limits = [](const ops::Case &) { return "D = 64 only"; };
  auto verdict = judge::judge(session, attention(), candidate, nullptr, fewCases(), {}, {}, 1, {});
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, ErrorKind::NoVerdict);
  EXPECT_THAT(verdict.error().what, testing::HasSubstr("D = 64 only"));
}

TEST(Judge, ListsTheChecksThatThisCardCannotMake) {
  judge::Verdict verdict = judged(fake::kernel(fake::right));
  for (const char *name : {"race", "barrier", "uninitialised"})
    EXPECT_TRUE(std::ranges::any_of(verdict.checks, [&](const judge::Check &c) { return c.name == name && !c.pass; }));
}

TEST(Judge, CountsBarriersAsCheckedOnACardThatWatchesThem) {
  fake::Session session;
  session.device.watchesBarriers = true;
  session.kernels["k"] = fake::kernel(fake::right);
  fake::Candidate candidate("k");
  auto verdict = judge::judge(session, attention(), candidate, nullptr, fewCases(), {}, {}, 1, {});
  ASSERT_TRUE(verdict) << describe(verdict.error());
  EXPECT_EQ(std::ranges::find(verdict->checks, "barrier", &judge::Check::name)->pass, true);
}

/// A right kernel whose grid's y is the number of heads, as kernels often have it.
judge::Verdict judgedWithHeadsInY(std::vector<ops::Case> cases) {
  fake::Session session;
  session.kernels["k"] = fake::kernel(fake::right);
  fake::Candidate candidate("k");
  candidate.gridOf = [](const ops::Case &c) { return card::Dim3{1, uint32_t(c.symbols.at("H")), 1}; };
  auto verdict = judge::judge(session, attention(), candidate, nullptr, cases, {}, {}, 1, {});
  EXPECT_TRUE(verdict) << describe(verdict.error());
  return verdict ? *verdict : judge::Verdict{};
}

ops::Case manyHeads(bool own) {
  ops::Case c = shape("many heads", {{"H", 65537}, {"L", 1}, {"D", 1}});
  c.own = own;
  return c;
}

TEST(JudgeLimits, DoNotTryAnOwnCaseThatTheCardCannotLaunchAndSayWhich) {
  std::vector<ops::Case> cases = fewCases();
  cases.push_back(manyHeads(true));
  judge::Verdict verdict = judgedWithHeadsInY(cases);
  EXPECT_TRUE(verdict.pass);
  ASSERT_EQ(verdict.accuracy.notTried.size(), 1u);
  EXPECT_THAT(verdict.accuracy.notTried[0].why, testing::HasSubstr("grid.y = 65537"));
  EXPECT_THAT(verdict.accuracy.notTried[0].why, testing::HasSubstr("65535"));
  EXPECT_THAT(verdict.accuracy.notTried[0].why, testing::HasSubstr("grid 1x65537x1"));
}

TEST(JudgeLimits, FailAUsersCaseThatTheCardCannotLaunch) {
  std::vector<ops::Case> cases = fewCases();
  cases.push_back(manyHeads(false));
  judge::Verdict verdict = judgedWithHeadsInY(cases);
  EXPECT_FALSE(verdict.pass);
  EXPECT_THAT(verdict.reasons, Contains("limits"));
}

TEST(JudgeLimits, FailAKernelOfWhichNoCaseCanBeLaunched) {
  judge::Verdict verdict = judgedWithHeadsInY({manyHeads(true)});
  EXPECT_FALSE(verdict.pass);
  EXPECT_THAT(verdict.reasons, testing::ElementsAre("limits"));
}

TEST(JudgeConditioning, TellsIllConditionedDataApartAndOutOfTheWorstError) {
  ops::Case wide = shape("wide", {{"L", 33}, {"S", 70}, {"D", 64}});
  wide.scalars["scale"] = 4; // scores of hundreds that float cannot hold exactly
  std::vector<ops::Case> cases = fewCases();
  cases.push_back(wide);
  judge::Verdict verdict = judged(fake::kernel(fake::right), cases);
  EXPECT_TRUE(verdict.pass);
  const judge::CaseResult &last = verdict.accuracy.cases.back();
  EXPECT_FALSE(last.wellConditioned);
  EXPECT_GT(last.limit, 1e-5);
  EXPECT_NE(verdict.accuracy.worstCase, "wide");
  EXPECT_LT(verdict.accuracy.maxError, 2e-6);
}

} // namespace
} // namespace opsight
