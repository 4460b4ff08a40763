#include "sight/fault_checks.h"
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opsight::sight {
namespace {

using End = card::Launched::End;
using testing::HasSubstr, testing::StartsWith;

Finding fault(const char *kind, unsigned line, bool benign = false) {
  Finding finding;
  finding.kind = kind;
  finding.where = {"src/k.cu", line, 3};
  finding.what = "something happens";
  finding.isFault = !benign, finding.isBenign = benign;
  return finding;
}
judge::Check check(const std::vector<Finding> &found, const char *name, card::Launched launched = {}) {
  auto checks = faultChecks(launched, found, "small");
  return *std::ranges::find(checks, name, &judge::Check::name);
}

TEST(FaultChecks, AWholeRunWithoutFaultsPassesThemAll) {
  auto checks = faultChecks({}, {}, "small");
  EXPECT_EQ(checks.size(), 5u);
  for (const judge::Check &each : checks) {
    EXPECT_EQ(each.pass, true) << each.name;
    EXPECT_THAT(each.detail, HasSubstr("case 'small'"));
  }
}

TEST(FaultChecks, AFaultIsToldWithItsLineAndHowManyMoreThereAre) {
  std::vector<Finding> found{fault("race", 12), fault("race", 15), fault("misaligned", 7)};
  EXPECT_EQ(check(found, "race").pass, false);
  EXPECT_THAT(check(found, "race").detail, StartsWith("k.cu:12: something happens; 1 more line ("));
  EXPECT_THAT(check(found, "misaligned").detail, StartsWith("k.cu:7: something happens (case 'small'"));
  EXPECT_EQ(check(found, "uninitialised").pass, true);
  found.push_back(fault("race", 20));
  EXPECT_THAT(check(found, "race").detail, HasSubstr("; 2 more lines ("));
}

TEST(FaultChecks, ABenignRacePassesAndIsToldAllTheSame) {
  EXPECT_EQ(check({fault("race", 12, true)}, "race").pass, true);
  EXPECT_THAT(check({fault("race", 12, true)}, "race").detail, StartsWith("benign: k.cu:12"));
}

TEST(FaultChecks, ARunThatWasCutShortShowsNoAbsence) {
  card::Launched crashed{.end = End::Crash};
  EXPECT_EQ(check({fault("out_of_bounds", 3)}, "out_of_bounds", crashed).pass, false);
  EXPECT_EQ(check({fault("out_of_bounds", 3)}, "race", crashed).pass, std::nullopt);
}

TEST(FaultChecks, ThreadsThatDoNotMeetAreTheBarriersFault) {
  card::Launched apart{.end = End::Barrier, .detail = "k.cu:9: only part of the threads come"};
  EXPECT_EQ(check({}, "barrier", apart).pass, false);
  EXPECT_THAT(check({}, "barrier", apart).detail, StartsWith("k.cu:9: only part"));
}

TEST(FaultChecks, WhatCouldNotBeWatchedIsNoPass) {
  for (const judge::Check &each : faultChecksNotMade("no device"))
    EXPECT_EQ(each.pass, std::nullopt) << each.name;
}

} // namespace
} // namespace opsight::sight
