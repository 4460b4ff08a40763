// The record of verdicts: what was proved is found again, and a record that cannot be kept harms nothing.
#include "base/file.h"
#include "port/verdict_log.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace opsight::port {
namespace {
namespace fs = std::filesystem;

const std::string attention = "scaled_dot_product_attention";

Outcome outcomeOn(const std::string &card, bool pass, std::optional<double> ratio = std::nullopt) {
  Outcome outcome;
  outcome.verb = "port";
  outcome.request.op = *ops::findOperator(attention);
  outcome.request.options = {{"causal", "top-left"}, {"mask", "none"}};
  outcome.profile.name = card;
  outcome.verdict.pass = pass;
  outcome.verdict.candidate = "recipe/flash_simd";
  outcome.verdict.device.device = "a processor";
  outcome.verdict.accuracy.maxError = 1.5e-6;
  outcome.verdict.accuracy.cases.resize(3);
  for (int i = 0; i < 2; ++i)
    outcome.verdict.accuracy.cases[i].pass = true;
  if (ratio) {
    judge::Speed &speed = outcome.verdict.speed.emplace();
    speed.ratio = *ratio;
    speed.reference = "a library";
    speed.cases.resize(1);
  }
  return outcome;
}

class Log : public testing::Test {
protected:
  void SetUp() override { folder = fs::temp_directory_path() / ("opsight-log-" + std::to_string(::getpid())); }
  void TearDown() override { fs::remove_all(folder); }
  fs::path folder;
  fs::path file() const { return folder / "opsight" / "verdicts.sqlite"; }
};

TEST_F(Log, theLastPassOfEachCardIsKeptWithTheCounts) {
  for (const Outcome &outcome : {outcomeOn("cpu", true, 1.1), outcomeOn("cpu", true, 1.3), outcomeOn("cpu", false, 0.5),
                                 outcomeOn("another", false)}) {
    Status recorded = recordVerdict(outcome, file());
    ASSERT_TRUE(recorded) << describe(recorded.error());
  }
  Result<std::vector<Proof>> proofs = proofsOf(attention, file());
  ASSERT_TRUE(proofs) << describe(proofs.error());
  ASSERT_EQ(proofs->size(), 2u);
  EXPECT_EQ((*proofs)[0].card, "another");
  EXPECT_EQ((*proofs)[0].passes, 0);
  EXPECT_EQ((*proofs)[0].fails, 1);
  EXPECT_EQ((*proofs)[0].candidate, "");
  const Proof &cpu = (*proofs)[1];
  EXPECT_EQ(cpu.passes, 2);
  EXPECT_EQ(cpu.fails, 1);
  EXPECT_EQ(cpu.ratio, 1.3);
  EXPECT_EQ(cpu.reference, "a library");
  EXPECT_EQ(cpu.cases, 2);
  EXPECT_EQ(cpu.maxError, 1.5e-6);
  EXPECT_EQ(cpu.options, "causal=top-left");
  EXPECT_EQ(cpu.day.size(), 10u);
}

TEST_F(Log, accuracyAloneHasNoRatio) {
  ASSERT_TRUE(recordVerdict(outcomeOn("cpu", true, 1.3), file()));
  ASSERT_TRUE(recordVerdict(outcomeOn("cpu", true), file()));
  EXPECT_EQ(proofsOf(attention, file())->front().ratio, std::nullopt);
}

TEST_F(Log, anotherOperatorsVerdictsAreNotThisOnes) {
  ASSERT_TRUE(recordVerdict(outcomeOn("cpu", true), file()));
  EXPECT_TRUE(proofsOf("softmax", file())->empty());
}

TEST_F(Log, noRecordIsNoProof) {
  EXPECT_TRUE(proofsOf(attention, file())->empty());
  EXPECT_TRUE(proofsOf(attention, {})->empty());
}

TEST_F(Log, aFileThatIsNoRecordIsAnErrorNotAProof) {
  ASSERT_TRUE(writeFile(file(), "this is a text and no data base at all, whatever its name may promise\n"));
  EXPECT_FALSE(proofsOf(attention, file()));
  EXPECT_FALSE(recordVerdict(outcomeOn("cpu", true), file()));
}

TEST_F(Log, aFolderThatCannotBeMadeIsAnError) {
  ASSERT_TRUE(writeFile(folder / "opsight", "a file in the way"));
  EXPECT_FALSE(recordVerdict(outcomeOn("cpu", true), file()));
}

} // namespace
} // namespace opsight::port
