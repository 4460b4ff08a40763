// Requests in Chinese and English: what is understood, and that nothing else is.
#include "port/ask.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace opsight;
using namespace opsight::port;
using testing::HasSubstr;

namespace {

const std::vector<std::string> cards = {"cpu", "opencl:pocl", "opencl:intel"};

Asked ask(std::initializer_list<std::string> texts) {
  Asked asked;
  for (const std::string &text : texts) {
    Status done = understand({text, {"--ask"}}, cards, asked);
    EXPECT_TRUE(done) << text << "\n" << (done ? "" : describe(done.error()));
  }
  return asked;
}

std::string refusal(std::initializer_list<std::string> texts) {
  Asked asked;
  for (const std::string &text : texts)
    if (Status done = understand({text, {"--ask"}}, cards, asked); !done) {
      EXPECT_EQ(done.error().kind, ErrorKind::User);
      return done.error().what;
    }
  ADD_FAILURE() << "accepted: " << *texts.begin();
  return {};
}

std::string hintsOf(const Asked &asked) {
  std::string all;
  for (const Hint &hint : asked.hints)
    all += (all.empty() ? "" : " ") + hint.key + "=" + hint.value;
  return all;
}

TEST(Ask, understandsTheFirstRequest) {
  Asked asked = ask({"把这个cuda算子翻译成国产卡ir实现。要求精度误差小于1e-5，性能不低于n卡实现的70%。"});
  EXPECT_EQ(asked.maxError, 1e-5);
  EXPECT_EQ(asked.minSpeed, 0.70);
  EXPECT_EQ(hintsOf(asked), "");
  ASSERT_EQ(asked.parts.size(), 3u);
  EXPECT_EQ(asked.parts[1].said, "要求精度误差小于1e-5");
}

TEST(Ask, understandsTheFiveConstraints) {
  Asked asked = ask({"softmax必须使用online algorithm三阶段，不要使用naive "
                     "softmax。当前精度问题出在第二阶段reduce，局部最大值和指数和更新顺序要保持一致。",
                     "矩阵乘tile使用64x64，tile过大shared memory不够，过小会增加bank conflict。",
                     "reduce时按4-stride展开，避免bank conflict。",
                     "K/V矩阵按row-major缓存在shared memory，避免跨bank连续冲突。", "先保证精度，再做性能优化。"});
  EXPECT_EQ(hintsOf(asked), "softmax=online softmax=max-before-sum tile=64x64 reduce-stride=4 kv=shared,row-major "
                            "order=accuracy-first");
  size_t reasons = 0;
  for (const Understood &part : asked.parts)
    reasons += part.as == Understood::As::Reason;
  EXPECT_EQ(reasons, 5u);
  EXPECT_EQ(asked.parts.size(), 13u);
}

TEST(Ask, understandsTheFirstRequestInEnglish) {
  for (const char *text :
       {"Translate this CUDA operator into the IR of a domestic card. The error must be below 1e-5 and the performance at "
        "least 70% of the NVIDIA implementation.",
        "translate; accept only error < 1e-5 and speed ≥ 70 % of the reference",
        "Port this CUDA kernel to the Chinese card's IR, with an accuracy error less than 1e-5 and performance no less "
        "than 70% of the NVIDIA card's implementation."}) {
    Asked asked = ask({text});
    EXPECT_EQ(asked.maxError, 1e-5) << text;
    EXPECT_EQ(asked.minSpeed, 0.7) << text;
  }
}

TEST(Ask, understandsTheFiveConstraintsInEnglish) {
  Asked asked = ask({"three-phase online softmax (local maximum; rescale and sum of exponentials; accumulate); maximum "
                     "before sum, the same order everywhere",
                     "64×64 tiles for the matrix products", "reductions unrolled with stride 4",
                     "K and V row-major in shared memory, free of bank conflicts", "accuracy first, then speed"});
  EXPECT_EQ(hintsOf(asked), "softmax=online softmax=max-before-sum tile=64x64 reduce-stride=4 kv=shared,row-major "
                            "order=accuracy-first");
}

TEST(Ask, understandsLongEnglishForms) {
  Asked asked = ask({"Softmax must use the three-phase online algorithm, do not use naive softmax. The current accuracy "
                     "problem lies in the second-phase reduce, the local maximum and the sum of exponentials must be "
                     "updated in the same order.",
                     "Use 64x64 tiles for matrix multiplication: larger tiles do not fit in shared memory, smaller ones "
                     "increase bank conflicts.",
                     "Unroll the reduction with a stride of 4 to avoid bank conflicts.",
                     "Keep the K/V matrices row-major in shared memory to avoid cross-bank conflicts.",
                     "Ensure accuracy first, then optimize performance."});
  EXPECT_EQ(hintsOf(asked), "softmax=online softmax=max-before-sum tile=64x64 reduce-stride=4 kv=shared,row-major "
                            "order=accuracy-first");
}

struct Reworded {
  const char *text;
  double error, speed;
};

TEST(Ask, readsBarsInManySpellings) {
  for (const Reworded &r : std::initializer_list<Reworded>{
           {"误差不超过1×10^-5，性能达到n卡的七成以上", 1e-5, 0.7},
           {"误差小于十万分之一，性能不低于n卡实现的百分之七十", 1e-5, 0.7},
           {"误差<0.00001，速度至少为参考实现的0.7", 1e-5, 0.7},
           {"误差在1e-6以内；性能≥80%", 1e-6, 0.8},
           {"误差＜１ｅ－５，性能不低于ｎ卡实现的７０％", 1e-5, 0.7},
           {"精度误差小于1x10⁻⁵并且性能不低于英伟达实现的七成五", 1e-5, 0.75},
           {"max error at most 2e-6, at least 90 percent of the speed of the CUDA version", 2e-6, 0.9},
           {"精度达到1e-5，性能超过原版的1.2", 1e-5, 1.2},
           {"误差小于百万分之一，性能不少于cuda版本的9成", 1e-6, 0.9}}) {
    Asked asked = ask({r.text});
    ASSERT_TRUE(asked.maxError && asked.minSpeed) << r.text;
    EXPECT_DOUBLE_EQ(*asked.maxError, r.error) << r.text;
    EXPECT_DOUBLE_EQ(*asked.minSpeed, r.speed) << r.text;
  }
}

TEST(Ask, readsHintsInManySpellings) {
  const std::pair<const char *, const char *> spellings[] = {
      {"矩阵乘的分块大小用32x32", "tile=32x32"},
      {"tile 64*128", "tile=64x128"},
      {"请使用128×64的tile", "tile=128x64"},
      {"tile size 64", "tile=64x64"},
      {"gemm采用64 x 64 tile", "tile=64x64"},
      {"规约时步长为2展开", "reduce-stride=2"},
      {"unroll reductions with stride 8", "reduce-stride=8"},
      {"reduce按8-stride展开以避免bank冲突", "reduce-stride=8"},
      {"K和V按行主序存放在共享内存中", "kv=shared,row-major"},
      {"K/V矩阵按column-major缓存", "kv=column-major"},
      {"K, V matrices row-major", "kv=row-major"},
      {"精度优先", "order=accuracy-first"},
      {"首先确保正确性，然后优化性能", "order=accuracy-first"},
      {"先保证精度再优化性能", "order=accuracy-first"},
      {"禁止使用朴素softmax", "softmax=online"},
      {"use an online softmax instead of the naive softmax", "softmax=online"},
      {"不要使用naive softmax，而是用online算法", "softmax=online"},
      {"先更新局部最大值，再更新指数和", "softmax=max-before-sum"},
  };
  for (const auto &[text, hints] : spellings)
    EXPECT_EQ(hintsOf(ask({text})), hints) << text;
  EXPECT_EQ(hintsOf(ask({"最大值先于指数和更新"})), "softmax=max-before-sum");
}

TEST(Ask, namedCardIsTaken) {
  EXPECT_EQ(ask({"把这个算子移植到opencl:pocl"}).card, "opencl:pocl");
  EXPECT_EQ(ask({"translate this kernel to the cpu card"}).card, "cpu");
}

TEST(Ask, showsThePartThatIsNotUnderstood) {
  EXPECT_THAT(refusal({"用fp16"}), HasSubstr("\"fp16\" in \"用fp16\" (character 2"));
  EXPECT_THAT(refusal({"误差小于1e-5，支持dropout"}), HasSubstr("dropout"));
  EXPECT_THAT(refusal({"softmax must use onlin algorithm"}), HasSubstr("\"onlin\""));
  EXPECT_THAT(refusal({"矩阵乘tile使用64x64x32"}), HasSubstr("x32"));
  EXPECT_THAT(refusal({"翻译成昇腾ir实现"}), HasSubstr("昇腾"));
  EXPECT_THAT(refusal({"把这个算子翻译成triton"}), HasSubstr("triton"));
  EXPECT_THAT(refusal({"误差小于-1e-5"}), HasSubstr("-"));
  EXPECT_THAT(refusal({"完全随便"}), HasSubstr("完全随便"));
}

TEST(Ask, knownWordsInAnotherSenseAreRefused) {
  for (const char *text :
       {"误差大于1e-5", "不要使用online softmax", "使用naive softmax", "避免使用64x64的tile", "先优化性能，再保证精度",
        "先做性能优化再保证精度", "performance first, then accuracy", "不要使用naive和online softmax", "性能不低于70",
        "误差小于0", "不要翻译", "tile不要用64x64", "先更新指数和再更新最大值", "K/V不要用row-major", "再做性能优化",
        "reduce不要按4-stride展开", "tile 64x64 或 32x32", "stride 4", "性能低于70%", "do not keep K and V row-major",
        "performance within 70%", "tile 0x64", "tile 64x64和32x32"})
    refusal({text});
}

TEST(Ask, contradictionsAreRefused) {
  EXPECT_THAT(refusal({"tile使用64x64", "tile使用32x32"}), HasSubstr("two different values of tile"));
  EXPECT_THAT(refusal({"误差小于1e-5，误差小于1e-6"}), HasSubstr("two different bars"));
  EXPECT_THAT(refusal({"K和V row-major", "K和V column-major"}), HasSubstr("two different values of kv"));
}

TEST(Ask, emptyRequestIsRefused) { EXPECT_THAT(refusal({"，。"}), HasSubstr("nothing is asked")); }

TEST(Ask, placePointsIntoThePortFile) {
  Asked asked;
  Status done = understand({"误差小于1e-5，支持dropout", {"port.toml", 12, 8}}, cards, asked);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().where.line, 12u);
  EXPECT_EQ(done.error().where.column, 8u + 10u);
}

} // namespace
