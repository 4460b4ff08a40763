// The command line wins over the file and says so; two demands at one level that differ are an error.
#include "port/hint.h"
#include "port/settle.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace opsight;
using namespace opsight::port;
using testing::HasSubstr;

namespace {

class Settle : public testing::Test {
protected:
  void SetUp() override {
    setenv("OPSIGHT_ROOT", OPSIGHT_SOURCE_DIR, 1);
    request.op = *ops::findOperator("scaled_dot_product_attention");
    request.options = *request.op->completeOptions({});
  }
  Request request;
  Overrides overrides;
  std::vector<std::string> notes;
};

TEST_F(Settle, unnamedCardIsTheEmbeddedOne) {
  request.asks = {{"把这个cuda算子翻译成国产卡ir实现", {}}};
  ASSERT_TRUE(settle(request, overrides, notes));
  EXPECT_EQ(request.card, "cpu");
}

TEST_F(Settle, aSentenceAsksOnlyForCardsThatRun) {
  request.asks = {{"性能不低于a100实现的70%。", {}}};
  Status settled = settle(request, overrides, notes);
  ASSERT_FALSE(settled);
  EXPECT_THAT(settled.error().what, HasSubstr("not understood: \"a100\""));
}

TEST_F(Settle, unnamedCardIsTheFilesCardAndTheCommandLinesBefore) {
  request.asks = {{"把这个cuda算子翻译成国产卡ir实现", {}}};
  request.card = "opencl:pocl";
  ASSERT_TRUE(settle(request, overrides, notes));
  EXPECT_EQ(request.card, "opencl:pocl");
  overrides.card = "cpu";
  ASSERT_TRUE(settle(request, overrides, notes));
  EXPECT_EQ(request.card, "cpu");
}

TEST_F(Settle, commandLineOverridesTheFileAndSaysSo) {
  request.accept.maxError = 1e-5;
  request.hints = {*parseHint("tile=64x64")};
  overrides.maxError = 1e-6;
  overrides.hints = {"tile=32x32"};
  ASSERT_TRUE(settle(request, overrides, notes));
  EXPECT_EQ(request.accept.maxError, 1e-6);
  ASSERT_EQ(request.hints.size(), 1u);
  EXPECT_EQ(request.hints[0].value, "32x32");
  EXPECT_EQ(notes.size(), 2u);
}

TEST_F(Settle, fileThatContradictsItselfIsAnError) {
  request.accept.maxError = 1e-6;
  request.asks = {{"误差小于1e-5", {"port.toml", 3, 8}}};
  Status done = settle(request, overrides, notes);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().what, HasSubstr("two different bars"));
  EXPECT_EQ(done.error().where.line, 3u);
}

TEST_F(Settle, commandLineThatContradictsItselfIsAnError) {
  overrides.hints = {"tile=64x64"};
  overrides.asks = {"tile 32x32"};
  ASSERT_FALSE(settle(request, overrides, notes));
}

TEST_F(Settle, unknownCardReferenceAndHintNameTheNearest) {
  overrides.card = "opencl:pokl";
  EXPECT_THAT(settle(request, overrides, notes).error().what, HasSubstr("did you mean 'opencl:pocl'"));
  overrides.card = request.card = "";
  overrides.reference = "vendr";
  EXPECT_THAT(settle(request, overrides, notes).error().what, HasSubstr("did you mean 'vendor'"));
  overrides.reference = "";
  overrides.hints = {"tyle=64x64"};
  EXPECT_THAT(settle(request, overrides, notes).error().what, HasSubstr("did you mean 'tile'"));
}

TEST(Hint, valuesHaveOneSpelling) {
  EXPECT_EQ(parseHint("tile=64X128")->value, "64x128");
  EXPECT_EQ(parseHint("kv = Shared,Row-Major")->value, "shared,row-major");
  for (const char *wrong : {"tile=64", "tile=0x64", "tile=64x64x64", "reduce-stride=0", "reduce-stride=x", "kv=diagonal",
                            "order=speed-first", "softmax=naive", "tile"})
    EXPECT_FALSE(parseHint(wrong)) << wrong;
}

} // namespace
