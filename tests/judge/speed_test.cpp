// Speed: what is timed is verified, who is timed first alternates, and an interval that holds the bar is no answer.
#include "fake.h"
#include "judge/statistics.h"
#include "judge/timing.h"
#include "operator/random.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opsight {
namespace {

using fake::Attention;
using testing::Contains;
using testing::HasSubstr;

const ops::Operator &attention() { return **ops::findOperator("scaled_dot_product_attention"); }

ops::Case smallCase() {
  ops::Case c;
  c.name = "small";
  c.symbols = {{"L", 8}, {"S", 16}, {"D", 8}};
  return *attention().completeCase(c);
}

/// Does `body`, then waits until `seconds` have passed and reports exactly those.
fake::Kernel taking(std::function<double(const Attention &)> seconds, std::function<void(Attention &)> body = fake::right) {
  return [=](Attention &a) {
    auto start = std::chrono::steady_clock::now();
    body(a);
    double want = seconds(a);
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < want)
      ;
    card::Launched launched;
    launched.seconds = want;
    return launched;
  };
}
fake::Kernel taking(double seconds, std::function<void(Attention &)> body = fake::right) {
  return taking([seconds](const Attention &) { return seconds; }, std::move(body));
}

struct Contest {
  fake::Session session;
  std::string referenceProposer = "vendor";

  Result<judge::Verdict> run(fake::Kernel candidate, fake::Kernel reference, judge::Bar bar = {}) {
    session.kernels["candidate"] = std::move(candidate);
    session.kernels["reference"] = std::move(reference);
    fake::Candidate mine("candidate"), theirs("reference", false, referenceProposer);
    std::vector<ops::Case> cases{smallCase()};
    return judge::judge(session, attention(), mine, &theirs, cases, cases, bar, 3, {});
  }
};

TEST(Speed, PassesACandidateThatIsFastEnough) {
  auto verdict = Contest().run(taking(100e-6), taking(150e-6));
  ASSERT_TRUE(verdict) << describe(verdict.error());
  EXPECT_TRUE(verdict->pass);
  EXPECT_NEAR(verdict->speed->ratio, 1.5, 1e-9);
  EXPECT_GE(verdict->speed->cases.front().pairs, 11);
  EXPECT_NEAR(verdict->speed->gflops, attention().work(smallCase()).flops / 100e-6 / 1e9, 1e-6);
}

TEST(Speed, FailsASlowCandidateAndSaysSo) {
  auto verdict = Contest().run(taking(200e-6), taking(100e-6));
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->pass);
  EXPECT_TRUE(verdict->accuracy.pass);
  EXPECT_THAT(verdict->reasons, testing::ElementsAre("slow"));
}

TEST(Speed, GivesNoVerdictWhenTheIntervalHoldsTheBar) {
  auto random = std::make_shared<ops::Random>(5);
  auto verdict = Contest().run(taking([random](const Attention &) { return (1 + random->uniform()) * 60e-6; }),
                               taking([random](const Attention &) { return (1 + random->uniform()) * 60e-6; }),
                               {.minSpeed = 1.0});
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, ErrorKind::NoVerdict);
  EXPECT_THAT(verdict.error().what, HasSubstr("too noisy to decide"));
}

TEST(Speed, KeepsAnExpensiveFirstCallOutOfTheMedianAndShowsIt) {
  int accuracyLaunches = 3 + 3; // three runs, and one a changed input
  auto verdict = Contest().run(
      taking([=](const Attention &a) { return a.call == accuracyLaunches + 1 ? 5e-3 : 100e-6; }), taking(100e-6));
  ASSERT_TRUE(verdict) << describe(verdict.error());
  EXPECT_NEAR(verdict->speed->ratio, 1, 1e-9);
  EXPECT_NEAR(verdict->speed->cases.front().firstSeconds, 5e-3, 1e-9);
}

TEST(Speed, NeverTimesAWrongKernel) {
  Contest contest;
  bool referenceRan = false;
  auto verdict = contest.run(fake::kernel([](Attention &) {}), [&](Attention &) {
    referenceRan = true;
    return card::Launched{};
  });
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->pass);
  EXPECT_FALSE(referenceRan);
  EXPECT_THAT(verdict->speed->notMeasured, HasSubstr("not timed"));
}

TEST(Speed, FailsAKernelThatIsRightForItsFirstTenCallsOnly) {
  auto verdict = Contest().run(taking(60e-6,
                                      [](Attention &a) {
                                        fake::right(a);
                                        if (a.call > 10)
                                          a.o[a.Dv] += 1;
                                      }),
                               taking(60e-6));
  ASSERT_TRUE(verdict) << describe(verdict.error());
  EXPECT_FALSE(verdict->pass);
  EXPECT_FALSE(verdict->accuracy.pass);
  EXPECT_THAT(verdict->reasons, Contains("error"));
  EXPECT_THAT(verdict->accuracy.cases.back().c.name, HasSubstr("timed run"));
}

TEST(Speed, FailsAKernelThatStopsWritingOnceItIsTimed) {
  auto verdict = Contest().run(taking(60e-6,
                                      [](Attention &a) {
                                        if (a.call <= 12)
                                          fake::right(a);
                                      }),
                               taking(60e-6));
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->pass);
  EXPECT_THAT(verdict->reasons, Contains("unwritten"));
  for (const judge::Check &check : verdict->checks)
    EXPECT_EQ(check.pass == false, check.name == "unwritten" || check.name == "timed_runs") << check.name;
}

TEST(Speed, CatchesReplayByAddressWhileTiming) {
  fake::Session session;
  auto memory = std::make_shared<std::map<const float *, std::vector<float>>>();
  session.kernels["replays"] = taking(60e-6, [memory](Attention &a) {
    auto &kept = (*memory)[a.q];
    if (kept.empty()) {
      fake::right(a);
      kept.assign(a.o, a.o + a.rows() * a.Dv);
    }
    std::ranges::copy(kept, a.o);
  });
  session.kernels["right"] = taking(60e-6);
  fake::Candidate mine("replays"), theirs("right");
  judge::Programs programs(session);
  judge::Bar bar;
  auto timed = judge::timeCase(session, programs, attention(), smallCase(), mine.build, {"right", &theirs.build}, bar,
                               session.peak, 1, {});
  ASSERT_TRUE(timed) << describe(timed.error());
  ASSERT_TRUE(timed->wrong);
}

struct RecordedElsewhere final : judge::Candidate {
  explicit RecordedElsewhere(double seconds) : seconds(seconds) {}
  std::string name() const override { return "recorded"; }
  std::string proposer() const override { return "recorded"; }
  Result<std::variant<judge::Build, judge::OutsideLimits>> prepare(const ops::Case &) override {
    ADD_FAILURE() << "a recorded reference cannot be built here";
    return judge::OutsideLimits{"recorded"};
  }
  std::optional<double> recordedSeconds(const ops::Case &) const override { return seconds; }
  double seconds;
};

TEST(Speed, ARecordedReferenceIsNeverRunHere) {
  fake::Session session;
  session.kernels["candidate"] = taking(100e-6);
  for (double seconds : {60e-6, 80e-6, 200e-6}) {
    fake::Candidate mine("candidate");
    RecordedElsewhere theirs(seconds);
    std::vector<ops::Case> cases{smallCase()};
    judge::Bar bar;
    bar.minSpeed = 0.5;
    auto verdict = judge::judge(session, attention(), mine, &theirs, cases, cases, bar, 3, {});
    ASSERT_TRUE(verdict) << describe(verdict.error());
    EXPECT_TRUE(verdict->pass);
    EXPECT_NEAR(verdict->speed->ratio, seconds / 100e-6, 1e-9);
    EXPECT_EQ(verdict->speed->cases.front().referenceSeconds, seconds);
  }
}

TEST(Speed, ARecordedReferenceThatIsMuchFasterMakesSlow) {
  fake::Session session;
  session.kernels["candidate"] = taking(100e-6);
  fake::Candidate mine("candidate");
  RecordedElsewhere theirs(10e-6);
  std::vector<ops::Case> cases{smallCase()};
  auto verdict = judge::judge(session, attention(), mine, &theirs, cases, cases, {}, 3, {});
  ASSERT_TRUE(verdict) << describe(verdict.error());
  EXPECT_FALSE(verdict->pass);
  EXPECT_THAT(verdict->reasons, Contains("slow"));
}

TEST(Speed, IsNotCalledSlowWhileOthersHaveTheProcessors) {
  Contest contest;
  contest.session.processor = [used = 0.0]() mutable { return used -= 1e6; }; // so that all that is busy are others
  auto verdict = contest.run(taking(20e-3), taking(5e-3));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, ErrorKind::NoVerdict);
  EXPECT_THAT(verdict.error().what, testing::HasSubstr("others kept 100 % of this machine's processors busy"));
}

TEST(Speed, IsFastEnoughWhateverOthersDo) {
  Contest contest;
  contest.session.processor = [used = 0.0]() mutable { return used -= 1e6; };
  auto verdict = contest.run(taking(10e-3), taking(15e-3));
  ASSERT_TRUE(verdict) << describe(verdict.error());
  EXPECT_TRUE(verdict->pass);
  EXPECT_EQ(verdict->speed->cases.front().othersShare, 1);
}

TEST(Speed, RefusesASpeedAboveTheMachinesPeak) {
  Contest contest;
  contest.session.peak = {.gflopsFp32 = 1e-2, .readGbps = 1};
  auto verdict = contest.run(taking(60e-6), taking(60e-6));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, ErrorKind::NoVerdict);
  EXPECT_THAT(verdict.error().what, HasSubstr("cannot be true"));
}

TEST(Speed, RefusesSecondsBelowTheClocksResolution) {
  auto verdict = Contest().run(taking(0.0), taking(60e-6));
  ASSERT_FALSE(verdict);
  EXPECT_THAT(verdict.error().what, HasSubstr("cannot be true"));
}

TEST(Speed, RefusesAReferenceThatIsItselfWrong) {
  for (const char *proposer : {"faithful", "vendor"}) {
    Contest contest;
    contest.referenceProposer = proposer;
    auto verdict = contest.run(taking(60e-6), taking(60e-6, [](Attention &a) {
                                 fake::right(a);
                                 a.o[0] += 1;
                               }));
    ASSERT_FALSE(verdict) << proposer;
    EXPECT_EQ(verdict.error().kind, ErrorKind::NoVerdict);
    EXPECT_THAT(verdict.error().what, HasSubstr("reference"));
    EXPECT_THAT(verdict.error().what, HasSubstr("itself wrong"));
  }
}

TEST(Speed, AlternatesWhoRunsFirst) {
  auto order = std::make_shared<std::string>();
  Contest contest;
  contest.run(taking(60e-6, [order](Attention &a) { fake::right(a), *order += 'A'; }),
              taking(60e-6, [order](Attention &a) { fake::right(a), *order += 'B'; }));
  EXPECT_THAT(*order, HasSubstr("ABBAABBA"));
}

TEST(MedianInterval, CoversTheMedianAsOftenAsItSays) {
  ops::Random random(11);
  for (int n : {6, 11, 40}) {
    int covered = 0, rounds = 4000;
    for (int round = 0; round < rounds; ++round) {
      std::vector<double> values;
      for (int k = 0; k < n; ++k)
        values.push_back(std::exp(random.normal())); // skewed; its median is 1
      judge::Interval interval = judge::medianInterval(values);
      covered += interval.low <= 1 && 1 <= interval.high;
    }
    EXPECT_GE(double(covered) / rounds, 0.945) << n;
    EXPECT_LE(double(covered) / rounds, 0.99) << n;
  }
}

TEST(Metric, TreatsNanAndInfinityAsEqualToThemselvesOnly) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  EXPECT_EQ(judge::elementError(nan, nan), 0);
  EXPECT_EQ(judge::elementError(-inf, -inf), 0);
  EXPECT_EQ(judge::elementError(inf, -inf), inf);
  EXPECT_EQ(judge::elementError(nan, 1), inf);
  EXPECT_EQ(judge::elementError(1, nan), inf);
  EXPECT_EQ(judge::elementError(1e30, inf), inf);
  EXPECT_DOUBLE_EQ(judge::elementError(1.5, 1), 0.5);
  EXPECT_DOUBLE_EQ(judge::elementError(110, 100), 0.1);
  EXPECT_DOUBLE_EQ(judge::elementError(0.1, 0), 0.1);
}

} // namespace
} // namespace opsight
