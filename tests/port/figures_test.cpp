// Figures recorded elsewhere: what a run writes is what a later one reads, and nothing missing is made up.
#include "base/file.h"
#include "port/figures.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace opsight::port {
namespace {

using testing::HasSubstr;

const ops::Operator &attention() { return **ops::findOperator("scaled_dot_product_attention"); }

ops::Case shape(int64_t length, const std::string &causal = "none") {
  ops::Case c;
  c.symbols = {{"B", 1}, {"H", 2}, {"L", length}, {"D", 64}};
  c.options = {{"causal", causal}, {"mask", "none"}};
  return *attention().completeCase(c);
}

const std::string head = "schema = \"opsight.figures/1\"\noperator = \"scaled_dot_product_attention\"\ncard = \"old\"\n"
                         "source = \"a test\"\n";
const std::string figure = "[[figure]]\nB = 1\nH = 2\nL = 256\nD = 64\n";

Result<std::unique_ptr<RecordedReference>> read(const std::string &text) {
  std::filesystem::path file = std::filesystem::temp_directory_path() / ("figures-" + std::to_string(::getpid()) + ".toml");
  EXPECT_TRUE(writeFile(file, text));
  auto result = readFigures(attention(), file, {});
  std::filesystem::remove(file);
  return result;
}

std::string complaint(const std::string &text) {
  auto result = read(text);
  if (result)
    return "";
  EXPECT_EQ(result.error().kind, ErrorKind::User);
  EXPECT_FALSE(result.error().where.file.empty());
  return describe(result.error());
}

TEST(Figures, whatARunWritesALaterOneReads) {
  judge::Speed speed;
  for (const ops::Case &c : {shape(256), shape(256), shape(512, "top-left")}) {
    judge::SpeedCase measured{};
    measured.c = c;
    measured.candidateSeconds = c.symbols.at("L") * 1e-6;
    speed.cases.push_back(measured);
  }
  auto back = read(figuresText({"scaled_dot_product_attention", "flash<64, 64>", "old", "a \"quoted\" device", "a test"}, speed));
  ASSERT_TRUE(back) << describe(back.error());
  EXPECT_DOUBLE_EQ(*(*back)->recordedSeconds(shape(256)), 256e-6);
  EXPECT_DOUBLE_EQ(*(*back)->recordedSeconds(shape(512, "top-left")), 512e-6);
  EXPECT_EQ((*back)->about().device, "a \"quoted\" device");
  EXPECT_THAT((*back)->name(), testing::AllOf(HasSubstr("flash<64, 64>"), HasSubstr("old"), HasSubstr("recorded")));
}

TEST(Figures, anotherShapeOrOptionHasNoFigure) {
  auto recorded = read(head + figure + "seconds = 1e-3\n");
  ASSERT_TRUE(recorded) << describe(recorded.error());
  EXPECT_FALSE((*recorded)->recordedSeconds(shape(257)));
  EXPECT_FALSE((*recorded)->recordedSeconds(shape(256, "top-left")));
  std::vector<ops::Case> asked = {shape(256), shape(257)};
  Status covered = (*recorded)->covers(asked);
  ASSERT_FALSE(covered);
  EXPECT_EQ(covered.error().kind, ErrorKind::User);
  EXPECT_THAT(covered.error().what, HasSubstr("L=257"));
  EXPECT_THAT(covered.error().next, HasSubstr("L=256"));
}

TEST(Figures, gflopsAreCountedByTheOperator) {
  auto recorded = read(head + figure + "gflops = 100\n");
  ASSERT_TRUE(recorded) << describe(recorded.error());
  EXPECT_DOUBLE_EQ(*(*recorded)->recordedSeconds(shape(256)), attention().work(shape(256)).flops / 100e9);
}

TEST(Figures, eachMistakeIsNamed) {
  EXPECT_THAT(complaint(head), HasSubstr("[[figure]]"));
  EXPECT_THAT(complaint(head + figure), HasSubstr("seconds or gflops"));
  EXPECT_THAT(complaint(head + figure + "seconds = 1\ngflops = 1\n"), HasSubstr("either"));
  EXPECT_THAT(complaint(head + figure + "seconds = 0\n"), HasSubstr("above 0"));
  EXPECT_THAT(complaint(head + figure + "seconds = nan\n"), HasSubstr("above 0"));
  EXPECT_THAT(complaint(head + figure + "second = 1\n"), HasSubstr("'second'"));
  EXPECT_THAT(complaint(head + figure + "seconds = 1\n" + figure + "seconds = 2\n"), HasSubstr("two figures"));
  EXPECT_THAT(complaint("crad = \"x\"\n" + head + figure + "seconds = 1\n"), HasSubstr("'card'"));
  EXPECT_THAT(complaint("schema = \"opsight.figures/1\"\noperator = \"scaled_dot_product_attention\"\ncard = \"old\"\n" +
                        figure + "seconds = 1\n"),
              HasSubstr("'source' is missing"));
  EXPECT_THAT(complaint("operator = "), HasSubstr("not a file of figures"));
  EXPECT_FALSE(readFigures(attention(), "/nowhere/figures.toml", {}));
}

} // namespace
} // namespace opsight::port
