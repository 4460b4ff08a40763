// The tuner's record: what was measured is found again under its key alone, by runs at once too, and a record that cannot
// be kept harms nothing.
#include "port/tuning_key.h"
#include "port/tuning_record.h"
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace opsight;
using namespace opsight::port;

namespace {

class TunerRecord : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("opsight-tuning-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  TuningRecord of(const std::string &key) const { return TuningRecord(folder / "state" / "tuning.sqlite", key); }
  static TrialLine trial(int64_t rows, std::optional<double> ratio) {
    TrialLine line{"recipe/some", {{"rows", rows}}, ratio.has_value(), 1e-6};
    line.ratio = ratio;
    return line;
  }
  std::filesystem::path folder;
};

TEST_F(TunerRecord, trialsAreFoundAgainUnderTheirKeyAlone) {
  of("a").add(trial(16, 1.25));
  of("a").add(trial(32, std::nullopt));
  of("b").add(trial(64, 2.0));
  std::vector<TrialLine> lines = of("a").trials();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].values, (Symbols{{"rows", 16}}));
  EXPECT_EQ(lines[0].ratio, 1.25);
  EXPECT_TRUE(lines[0].right);
  EXPECT_FALSE(lines[1].right);
  EXPECT_EQ(lines[1].ratio, std::nullopt);
}

TEST_F(TunerRecord, aTrialMeasuredAgainReplacesTheEarlierOne) {
  of("a").add(trial(16, 1.25));
  of("a").add(trial(16, 1.5));
  ASSERT_EQ(of("a").trials().size(), 1u);
  EXPECT_EQ(of("a").trials()[0].ratio, 1.5);
}

TEST_F(TunerRecord, aWinnerComesBackWithWhatWasSaidOfIt) {
  EXPECT_FALSE(of("a").winner());
  of("a").settle({"recipe/some", {{"keys", 64}, {"rows", 16}}, {"tile kept", "stride kept"}, 60});
  std::optional<WinnerLine> winner = of("a").winner();
  ASSERT_TRUE(winner);
  EXPECT_EQ(winner->candidate, "recipe/some");
  EXPECT_EQ(winner->values, (Symbols{{"keys", 64}, {"rows", 16}}));
  EXPECT_EQ(winner->notes, (std::vector<std::string>{"tile kept", "stride kept"}));
  EXPECT_EQ(winner->seconds, 60);
  EXPECT_FALSE(of("b").winner());
}

TEST_F(TunerRecord, whatIsForgottenIsGoneForItsKeyAlone) {
  for (const char *key : {"a", "b"}) {
    of(key).add(trial(16, 1.25));
    of(key).settle({"recipe/some", {}, {}});
  }
  of("a").forget();
  EXPECT_FALSE(of("a").winner());
  EXPECT_TRUE(of("a").trials().empty());
  EXPECT_TRUE(of("b").winner());
  EXPECT_EQ(of("b").trials().size(), 1u);
}

TEST_F(TunerRecord, twoRunsAtOnceLoseNothing) {
  constexpr int runs = 4, each = 25;
  std::vector<pid_t> children;
  for (int run = 0; run < runs; ++run) {
    children.push_back(::fork());
    if (children.back() == 0) {
      TuningRecord record = of("a");
      for (int n = 0; n < each; ++n)
        record.add(trial(run * each + n, 1.0));
      ::_exit(record.problem().empty() ? 0 : 1);
    }
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(of("a").trials().size(), size_t(runs * each));
}

TEST_F(TunerRecord, oneThatCannotBeKeptIsToldAndHarmsNothing) {
  std::ofstream(folder / "state") << "a file where the folder should be";
  TuningRecord record = of("a");
  record.add(trial(16, 1.25));
  EXPECT_FALSE(record.winner());
  EXPECT_TRUE(record.trials().empty());
  EXPECT_THAT(record.problem(), testing::HasSubstr("tuning.sqlite"));
}

TEST_F(TunerRecord, oneThatIsNoDatabaseIsToldAndHarmsNothing) {
  std::filesystem::create_directories(folder / "state");
  std::ofstream(folder / "state" / "tuning.sqlite") << std::string(5000, 'x');
  TuningRecord record = of("a");
  record.add(trial(16, 1.25));
  EXPECT_TRUE(record.trials().empty());
  EXPECT_FALSE(record.problem().empty());
}

TEST_F(TunerRecord, withoutAStateFolderNothingIsKept) {
  TuningRecord record({}, "a");
  record.add(trial(16, 1.25));
  EXPECT_TRUE(record.trials().empty());
  EXPECT_TRUE(record.problem().empty());
}

TEST(TuningKey, shapesOfOneClassAreTunedOnce) {
  EXPECT_EQ(shapeClass(64), 64);
  EXPECT_EQ(shapeClass(256), 256);
  EXPECT_EQ(shapeClass(1000), 1024);
  EXPECT_EQ(shapeClass(1024), 1024);
  EXPECT_EQ(shapeClass(1025), 2048);
}

TEST(TuningKey, changesWithWhatTheSearchDependsOn) {
  setenv("OPSIGHT_ROOT", OPSIGHT_SOURCE_DIR, 1);
  Request request;
  request.op = *ops::findOperator("scaled_dot_product_attention");
  request.options = *request.op->completeOptions({});
  std::vector<ops::Case> speed = {request.op->speedCase(request.options)};
  card::Profile profile;
  auto key = [&] { return tuningKey(request, speed, profile, {}); };
  const std::string first = key();
  EXPECT_EQ(key(), first);
  request.hints = {{"tile", "64x64", ""}};
  EXPECT_NE(key(), first);
  request.hints.clear();
  request.options["causal"] = "top-left";
  EXPECT_NE(key(), first);
  request.options["causal"] = "none";
  speed[0].symbols["L"] *= 2;
  EXPECT_NE(key(), first);
  speed[0].symbols["L"] /= 2;
  profile.name = "another";
  EXPECT_NE(key(), first);
  profile.name.clear();
  EXPECT_EQ(key(), first);
}

} // namespace
