// The command printed under a verdict repeats that verdict, not merely one like it.
#include "port/replay.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opsight::port {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Replay : testing::Test {
  Outcome outcome;
  CandidateResult recipe{"recipe/flash_simd", "recipe", {{"tile", "64x64"}}, "judged", "", {}, {}};
  CandidateResult faithful{"faithful", "faithful", {}, "judged", "", {}, {}};
  void SetUp() override {
    outcome.request.card = "cpu";
    outcome.seed = 7;
    outcome.referenceName = "vendor";
    outcome.request.hints = {{"tile", "64x64", "said"}, {"kv", "shared,row-major", "said"}};
  }
};

TEST_F(Replay, verifiesTheWinnersOwnFile) {
  EXPECT_EQ(replayCommand(outcome, recipe, "out"),
            "opsight verify out/candidates/recipe-flash_simd-tile-64x64/port.toml --card cpu --seed 7");
}

TEST_F(Replay, aRecipeComparedWithTheSourceIsPortedAgain) {
  outcome.referenceName = "source";
  std::string command = replayCommand(outcome, recipe, "out");
  EXPECT_THAT(command, StartsWith("opsight port out/candidates/faithful/port.toml"));
  EXPECT_THAT(command, HasSubstr(" --reference source --hint tile=64x64 --hint kv=shared,row-major"));
  EXPECT_THAT(replayCommand(outcome, faithful, "out"), StartsWith("opsight verify out/candidates/faithful/"));
}

TEST_F(Replay, aHintThatWasLostIsAskedForAgain) {
  outcome.verdict.reasons = {"hint_not_kept"};
  EXPECT_THAT(replayCommand(outcome, recipe, "out"), testing::AllOf(StartsWith("opsight port "), HasSubstr("--hint tile=64x64")));
}

TEST_F(Replay, keepsWhatTheCommandLineChanged) {
  outcome.request.accept.accuracyOnly = true;
  outcome.request.timeoutSeconds = 120;
  std::string command = replayCommand(outcome, recipe, "a folder");
  EXPECT_THAT(command, HasSubstr("'a folder/candidates/"));
  EXPECT_THAT(command, HasSubstr(" --accuracy-only"));
  EXPECT_THAT(command, HasSubstr(" --timeout 120"));
  EXPECT_THAT(command, Not(HasSubstr("--hint")));
}

} // namespace
} // namespace opsight::port
