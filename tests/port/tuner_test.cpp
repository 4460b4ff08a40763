// The tuner with a judge of the test's own: what is measured, what is remembered, what ends it, and what it says of hints.
#include "port/hint.h"
#include "port/tuner.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace opsight;
using namespace opsight::port;
using testing::HasSubstr;

namespace {

/// A kernel of `rows` in {8, 16, 32}, where 8 is judged first; its speed is what `ratios` says, none: it is wrong.
class Search : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("opsight-tuner-" + std::to_string(::getpid()));
    declared.op = *ops::findOperator("scaled_dot_product_attention");
    declared.source = "own.cu";
    declared.kernel = "rows_of<rows>";
    declared.launch.grid = declared.launch.block = {{"1"}};
    declared.parameters = {{.name = "rows", .value = 8, .search = {8, 16, 32}, .hint = "tile.rows"}};
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  Proposal proposal() const { return proposeSource(declared, ground()); }
  TuningGround ground() const { return {profile, {}}; }
  TuningRecord record() const { return TuningRecord(folder / "tuning.sqlite", "a request"); }

  std::unique_ptr<SourceCandidate> make(SourceKernel kernel) const {
    return std::make_unique<SourceCandidate>(*declared.op, std::move(kernel), CardTarget{});
  }
  Status judge(Entry &entry) {
    const int64_t rows = entry.values.at("rows");
    judged.push_back(rows);
    if (failures.contains(rows))
      return std::unexpected(Error{failures.at(rows), "a failure of the test's"});
    judge::Verdict verdict;
    const auto ratio = ratios.find(rows);
    verdict.pass = verdict.accuracy.pass = ratio != ratios.end();
    if (verdict.pass)
      verdict.speed = judge::Speed{.pass = true, .ratio = ratio->second, .low = ratio->second, .high = ratio->second};
    entry.result.state = "screened";
    entry.result.verdict = std::move(verdict);
    return {};
  }
  Tuner tuner(TuningRecord &into, double seconds = 1000) {
    return Tuner(plan, into,
                 {[this](SourceKernel kernel) { return make(std::move(kernel)); },
                  [this](Entry &entry, double, double) { return judge(entry); }},
                 std::chrono::duration<double>(seconds));
  }
  std::deque<Entry> first() {
    std::deque<Entry> entries;
    entries.emplace_back(make(proposal().kernelWith({{"rows", 8}})), Symbols{{"rows", 8}});
    EXPECT_TRUE(judge(entries.front()));
    judged.clear();
    return entries;
  }

  std::filesystem::path folder;
  Request declared;
  card::Profile profile;
  Plan plan{{}, {}};
  std::map<int64_t, double> ratios = {{8, 1.0}, {16, 1.5}, {32, 0.5}};
  std::map<int64_t, ErrorKind> failures;
  std::vector<int64_t> judged;
};

TEST_F(Search, measuresWhatIsLeftFreeOnce) {
  std::deque<Entry> entries = first();
  TuningRecord kept = record();
  Tuner search = tuner(kept);
  ASSERT_TRUE(search.search(proposal(), entries));
  EXPECT_EQ(judged, (std::vector<int64_t>{16, 32}));
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[1].ratio(), 1.5);
  ASSERT_TRUE(search.search(proposal(), entries));
  EXPECT_EQ(judged.size(), 2u);
}

TEST_F(Search, goesOnWhereAnEarlierOneStopped) {
  TuningRecord kept = record();
  {
    std::deque<Entry> entries = first();
    failures[32] = ErrorKind::Internal; // as if it had been killed there
    EXPECT_FALSE(tuner(kept).search(proposal(), entries));
    failures.clear();
  }
  std::deque<Entry> entries = first();
  TuningRecord again = record();
  ASSERT_TRUE(tuner(again).search(proposal(), entries));
  EXPECT_EQ(judged, (std::vector<int64_t>{32}));
  EXPECT_EQ(entries[1].result.state, "recorded");
  EXPECT_EQ(entries[1].ratio(), 1.5);
  EXPECT_TRUE(entries[1].isRight());
  EXPECT_FALSE(entries[1].isSettled()) << "what wins is judged again";
}

TEST_F(Search, remembersThatACandidateWasWrong) {
  ratios.erase(16);
  TuningRecord kept = record();
  std::deque<Entry> entries = first();
  ASSERT_TRUE(tuner(kept).search(proposal(), entries));
  std::deque<Entry> again = first();
  ASSERT_TRUE(tuner(kept).search(proposal(), again));
  EXPECT_FALSE(again[1].isRight());
  EXPECT_EQ(again[1].ratio(), 0);
}

TEST_F(Search, endsWhenItsTimeIsOverAndSaysWhatIsLeft) {
  std::deque<Entry> entries = first();
  TuningRecord kept = record();
  Tuner search = tuner(kept, 0);
  ASSERT_TRUE(search.search(proposal(), entries));
  EXPECT_TRUE(judged.empty());
  EXPECT_EQ(search.unmeasured(), 2u);
}

TEST_F(Search, passesOverWhatCannotBeBuiltOrTimed) {
  declared.parameters[0].search.push_back(64);
  failures = {{16, ErrorKind::Unsupported}, {32, ErrorKind::NoVerdict}, {64, ErrorKind::User}};
  std::deque<Entry> entries = first();
  TuningRecord kept = record();
  ASSERT_TRUE(tuner(kept).search(proposal(), entries));
  for (size_t n = 1; n < 4; ++n)
    EXPECT_EQ(entries[n].result.state, "unsupported");
  EXPECT_TRUE(kept.trials().empty()) << "another day it may be timed";
}

TEST_F(Search, saysWhatAHintCosts) {
  declared.hints = {*parseHint("tile=8x8")};
  std::deque<Entry> entries = first();
  TuningRecord kept = record();
  Tuner search = tuner(kept);
  auto costs = search.costsOfHints(proposal(), declared.hints, entries.front(), ground(), entries);
  ASSERT_TRUE(costs);
  ASSERT_EQ(costs->size(), 1u);
  EXPECT_THAT(costs->front(), HasSubstr("tile=8x8 kept"));
  EXPECT_THAT(costs->front(), HasSubstr("50 % faster"));
  for (size_t n = 1; n < entries.size(); ++n)
    EXPECT_TRUE(entries[n].besideHints) << "it must not win";
}

TEST_F(Search, saysThatAHintCostsNothing) {
  ratios = {{8, 1.0}, {16, 0.9}, {32, 1.001}};
  declared.hints = {*parseHint("tile=8x8")};
  std::deque<Entry> entries = first();
  TuningRecord kept = record();
  auto costs = tuner(kept).costsOfHints(proposal(), declared.hints, entries.front(), ground(), entries);
  ASSERT_TRUE(costs);
  ASSERT_EQ(costs->size(), 1u);
  EXPECT_THAT(costs->front(), HasSubstr("costs nothing"));
  EXPECT_THAT(costs->front(), HasSubstr("-10 %"));
}

TEST_F(Search, saysNothingOfHintsThatFixNoParameter) {
  declared.hints = {*parseHint("softmax=online")};
  std::deque<Entry> entries = first();
  TuningRecord kept = record();
  auto costs = tuner(kept).costsOfHints(proposal(), declared.hints, entries.front(), ground(), entries);
  ASSERT_TRUE(costs);
  EXPECT_TRUE(costs->empty());
}

} // namespace
