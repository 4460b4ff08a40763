// What engineers type: the story's demands in other words, in Chinese (simplified and traditional), in English and mixed.
// Each is understood as listed, or refused; nothing is dropped.
#include "port/ask.h"
#include <gtest/gtest.h>

namespace opsight::port {
namespace {

struct Wording {
  const char *text;
  double error, speed; // 0: not asked for
  const char *hints;
};

std::string hintsOf(const Asked &asked) {
  std::string all;
  for (const Hint &hint : asked.hints)
    all += (all.empty() ? "" : " ") + hint.key + "=" + hint.value;
  return all;
}

const Wording understood[] = {
    {"把這個cuda算子翻譯成國產卡ir實現。要求精度誤差小於1e-5，性能不低於n卡實現的70%。", 1e-5, 0.7, ""},
    {"softmax必須使用online algorithm三階段，不要使用naive softmax。", 0, 0, "softmax=online"},
    {"矩陣乘tile使用64x64，tile過大shared memory不夠，過小會增加bank conflict。", 0, 0, "tile=64x64"},
    {"先保證精度，再做性能優化。", 0, 0, "order=accuracy-first"},
    {"請將此CUDA算子移植到國產卡", 0, 0, ""},
    {"请将该CUDA kernel移植到国产卡", 0, 0, ""},
    {"把这个算子迁移到国产加速卡上", 0, 0, ""},
    {"帮我把这个kernel转换成国产卡的ir", 0, 0, ""},
    {"精度误差控制在1e-5以内", 1e-5, 0, ""},
    {"误差不能超过1e-5", 1e-5, 0, ""},
    {"误差要小于1e-5", 1e-5, 0, ""},
    {"最大误差不大于1e-5", 1e-5, 0, ""},
    {"性能至少达到n卡的70%", 0, 0.7, ""},
    {"性能要达到英伟达实现的80%以上", 0, 0.8, ""},
    {"性能不低于N卡的七成", 0, 0.7, ""},
    {"速度不低于参考实现的0.7倍", 0, 0.7, ""},
    {"使用online softmax", 0, 0, "softmax=online"},
    {"softmax用在线算法", 0, 0, "softmax=online"},
    {"softmax采用三阶段online算法", 0, 0, "softmax=online"},
    {"先更新局部最大值，再更新指数和", 0, 0, "softmax=max-before-sum"},
    {"tile大小为64x64", 0, 0, "tile=64x64"},
    {"分块大小64×64", 0, 0, "tile=64x64"},
    {"矩阵乘法的tile设为128x64", 0, 0, "tile=128x64"},
    {"reduce按stride 4展开", 0, 0, "reduce-stride=4"},
    {"归约按4-stride展开，避免bank冲突", 0, 0, "reduce-stride=4"},
    {"K/V按行优先缓存在共享内存", 0, 0, "kv=shared,row-major"},
    {"K、V矩阵以row-major方式缓存到shared memory", 0, 0, "kv=shared,row-major"},
    {"K, V matrices row-major", 0, 0, "kv=row-major"},
    {"先精度后性能", 0, 0, "order=accuracy-first"},
    {"先保证精度正确，再优化性能", 0, 0, "order=accuracy-first"},
    {"Please port this CUDA kernel to the card", 0, 0, ""},
    {"keep the error under 1e-5", 1e-5, 0, ""},
    {"error must not exceed 1e-5", 1e-5, 0, ""},
    {"max error 1e-5, min speed 0.7", 1e-5, 0.7, ""},
    {"at least 70% of the reference's performance", 0, 0.7, ""},
    {"performance should be at least 0.8x of the NVIDIA implementation", 0, 0.8, ""},
    {"use online softmax, no naive softmax", 0, 0, "softmax=online"},
    {"use a 64x64 tile", 0, 0, "tile=64x64"},
    {"matmul tile 128x64", 0, 0, "tile=128x64"},
    {"unroll the reduce by 4-stride", 0, 0, "reduce-stride=4"},
    {"cache K/V row-major in shared memory", 0, 0, "kv=shared,row-major"},
    {"correctness first, then performance", 0, 0, "order=accuracy-first"},
    {"softmax 用 online 算法，tile 用 64x64，error < 1e-5", 1e-5, 0, "softmax=online tile=64x64"},
};

TEST(AskRewordings, areUnderstood) {
  for (const Wording &wording : understood) {
    Asked asked;
    Status done = understand({wording.text, {"--ask"}}, {"cpu"}, asked);
    EXPECT_TRUE(done) << wording.text << "\n" << (done ? "" : describe(done.error()));
    if (!done)
      continue;
    EXPECT_DOUBLE_EQ(asked.maxError.value_or(0), wording.error) << wording.text;
    EXPECT_DOUBLE_EQ(asked.minSpeed.value_or(0), wording.speed) << wording.text;
    EXPECT_EQ(hintsOf(asked), wording.hints) << wording.text;
    EXPECT_FALSE(asked.parts.empty()) << wording.text;
  }
}

TEST(AskRewordings, whatOpsightCannotKeepIsRefused) {
  for (const char *text :
       {"用tensor core做矩阵乘", "使用double buffer预取K/V", "支持causal mask", "用cp.async加载", "把Q放在寄存器里",
        "寄存器不要溢出", "使用4个warp", "每个block 256线程", "输出用fp16", "run it on three cards", "make it fast",
        "不要用shared memory", "誤差大於1e-5", "不要使用online演算法", "tile不要超过64x64", "性能是n卡的十倍吗",
        "error about 1e-5", "stride 4 or 8 for the reduction", "K列优先V行优先"}) {
    Asked asked;
    Status done = understand({text, {"--ask"}}, {"cpu"}, asked);
    ASSERT_FALSE(done) << text << " was taken as " << hintsOf(asked);
    EXPECT_EQ(done.error().kind, ErrorKind::User) << text;
  }
}

} // namespace
} // namespace opsight::port
