// Reports of hand-made outcomes: widths, JSON's fields, what a reader is shown.
#include "report/account_text.h"
#include "report/markdown.h"
#include "report/terminal.h"
#include "report/verdict_json.h"
#include "report/width.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

using namespace opsight;
using namespace opsight::report;
using testing::HasSubstr;

namespace {

port::Outcome failedOutcome() {
  port::Outcome outcome;
  outcome.verb = "port";
  outcome.request.op = ops::allOperators().front();
  outcome.request.understood = {{port::Understood::As::Demand, "误差小于1e-5", "accept only an error of at most 1e-05"}};
  outcome.profile.name = "cpu";
  outcome.verdict.reasons = {"nan"};
  outcome.verdict.candidate = "faithful";
  outcome.verdict.accuracy.maxError = std::numeric_limits<double>::infinity();
  outcome.verdict.accuracy.limit = 1e-5;
  judge::CaseResult failed;
  failed.c.name = "steep | L=66";
  failed.c.symbols = {{"B", 1}, {"L", 66}};
  failed.error = std::numeric_limits<double>::infinity();
  failed.reasons = {"nan"};
  failed.where = judge::Where{"output", {0, 0, 5, 3}, std::numeric_limits<double>::quiet_NaN(), 0.5, "exponentials", "overflow"};
  outcome.verdict.accuracy.cases = {failed};
  outcome.verdict.checks = {{"race", std::nullopt, "cannot be seen here"}, {"nan", false, "4 elements"}};
  outcome.verdict.speed = judge::Speed{.notMeasured = "accuracy failed; a wrong kernel is not timed"};
  port::Hint tile{"tile", "64x64", "tile使用64x64", {}};
  outcome.hints = {{tile, false, "no tile"}, {tile, std::nullopt, "does not apply"}};
  outcome.replay = "opsight verify x.toml --seed 7";
  return outcome;
}

TEST(Width, ChineseCharactersTakeTwoColumns) {
  EXPECT_EQ(displayWidth("tile使用64x64"), 13u);
  EXPECT_EQ(displayWidth("≤ é"), 3u);
  EXPECT_EQ(padded("矩阵", 6), "矩阵  ");
}

TEST(Width, wrappingNeverPassesTheWidthAndLosesNothing) {
  std::string text = "tile过大shared memory不够，过小会增加bank conflict。 and then some English words follow";
  for (size_t width = 2; width < 60; ++width) {
    std::string joined;
    for (const std::string &line : wrapped(text, width)) {
      EXPECT_LE(displayWidth(line), width);
      joined += line;
    }
    std::erase(joined, ' ');
    std::string plain = text;
    std::erase(plain, ' ');
    EXPECT_EQ(joined, plain) << width;
  }
}

TEST(Width, aLongFirstCellLeavesTheOthersRoom) {
  std::string said;
  for (int i = 0; i < 20; ++i)
    said += "矩阵乘tile使用64x64，";
  std::string text = table({{said, "tiles of 64 queries by 64 keys for the matrix products"}, {"tile", "kept", }}, 2, 80);
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != text.npos; begin = end + 1, end = text.find('\n', begin))
    EXPECT_LE(displayWidth(std::string_view(text).substr(begin, end - begin)), 80u);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_THAT(text, HasSubstr("矩阵乘"));
  EXPECT_EQ(text.size(), said.size() + std::string("tilesof64queriesby64keysforthematrixproductstilekept").size());
}

TEST(TerminalReport, theReplayStandsOnOneLineHoweverNarrowTheTerminal) {
  port::Outcome outcome = failedOutcome();
  outcome.replay = "opsight verify /a/rather/long/folder/candidates/recipe-flash_simd-tile-64x64/port.toml --card cpu --seed 7";
  EXPECT_THAT(terminalReport(outcome, "out", {.columns = 40}), HasSubstr("\n  " + outcome.replay + "\n"));
  EXPECT_THAT(markdownReport(outcome, "out"), HasSubstr("\n    " + outcome.replay + "\n"));
}

TEST(VerdictJson, hasTheSchemasFieldsAndNoInfinity) {
  auto json = nlohmann::json::parse(verdictJson(failedOutcome()));
  for (const char *field : {"schema", "verdict", "reasons", "operator", "card", "candidate", "accuracy", "checks", "speed",
                            "hints", "candidates", "replay"})
    EXPECT_TRUE(json.contains(field)) << field;
  EXPECT_EQ(json["schema"], "opsight.verdict/1");
  EXPECT_EQ(json["verdict"], "FAIL");
  EXPECT_TRUE(json["accuracy"]["max_error"].is_null());
  EXPECT_EQ(json["accuracy"]["cases"][0]["where"]["index"], (std::vector<int>{0, 0, 5, 3}));
  EXPECT_TRUE(json["checks"][0]["pass"].is_null());
  EXPECT_EQ(json["checks"][1]["pass"], false);
  EXPECT_EQ(json["hints"][0]["kept"], false);
  EXPECT_TRUE(json["hints"][1]["kept"].is_null());
  EXPECT_FALSE(json["speed"].contains("ratio"));
}

TEST(TerminalReport, showsWhatWasAskedWhatFailedAndTheReplay) {
  std::string text = terminalReport(failedOutcome(), "out", {.columns = 400});
  for (const char *part : {"误差小于1e-5", "output[0, 0, 5, 3]", "phase exponentials", "NOT KEPT", "cannot tell",
                           "not measured: accuracy failed", "opsight verify x.toml --seed 7", "FAIL: nan"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_NE(terminalReport(failedOutcome(), "out", {.color = true}).find("\x1b[1;31m"), text.npos);
}

TEST(MarkdownReport, aBarInACellDoesNotBreakTheTable) {
  EXPECT_THAT(markdownReport(failedOutcome(), "out"), HasSubstr("steep \\| L=66"));
}

TEST(ErrorText, isShortAndNamesWhatIsNotFinite) {
  EXPECT_EQ(errorText(2.9e-7), "2.9e-7");
  EXPECT_EQ(errorText(1e-5), "1e-5");
  EXPECT_EQ(errorText(std::numeric_limits<double>::quiet_NaN()), "NaN or infinity");
}

} // namespace
