// kernels/attention/flash_simd.cu through the front end and native code, against the operator's definition in double
// precision. The judge has the operator's own cases; here are the corners of this kernel's tiling.
#include "native_run.h"
#include <cmath>
#include <map>
#include <random>

namespace opsight::lower {
namespace {

struct Shape {
  int B, H, Hkv, L, S, D, Dv, causal, mask, lanes = 16; // mask: 0 none, 1 bool, 2 additive
  const char *why;
};
std::ostream &operator<<(std::ostream &out, const Shape &s) { return out << s.why; }

struct Data {
  std::vector<float> q, k, v, bias, out{}, lse{};
  std::vector<unsigned char> keep{};
  float scale = 1;
};

const card::Artifact &kernelFor(const Shape &s) {
  static std::map<std::vector<int>, card::Artifact> cache;
  std::vector<int> key = {s.D, s.Dv, s.mask, s.lanes};
  if (auto found = cache.find(key); found != cache.end())
    return found->second;
  cuda::CompileRequest request;
  request.file = OPSIGHT_SOURCE_DIR "/kernels/attention/flash_simd.cu";
  request.kernel = "flash_simd<64, 64, 4>";
  request.defines = {{"HEAD_DIM", std::to_string(s.D)}, {"VALUE_DIM", std::to_string(s.Dv)},
                     {"MASK", std::to_string(s.mask)}, {"LANES", std::to_string(s.lanes)}};
  Target target;
  target.processor = s.lanes == 8 ? "x86-64-v3" : "native";
  auto artifact = compileNative(request, target);
  EXPECT_TRUE(artifact) << describe(artifact.error());
  return cache.emplace(key, artifact ? *artifact : card::Artifact{}).first->second;
}

Data makeData(const Shape &s) {
  std::mt19937 generator(7);
  std::normal_distribution<float> normal;
  auto fill = [&](size_t n) {
    std::vector<float> x(n);
    for (float &value : x)
      value = normal(generator);
    return x;
  };
  Data d{.q = fill(size_t(s.B) * s.H * s.L * s.D), .k = fill(size_t(s.B) * s.Hkv * s.S * s.D),
         .v = fill(size_t(s.B) * s.Hkv * s.S * s.Dv), .bias = fill(size_t(s.L) * s.S)};
  d.out.assign(size_t(s.B) * s.H * s.L * s.Dv, NAN);
  d.lse.assign(size_t(s.B) * s.H * s.L, NAN);
  d.scale = 1 / std::sqrt(float(s.D));
  d.keep.resize(d.bias.size());
  for (size_t i = 0; i < d.bias.size(); ++i) {
    bool hidden = i / s.S == 1 || d.bias[i] > 0.5f; // row 1 sees nothing
    d.keep[i] = !hidden;
    if (hidden)
      d.bias[i] = -INFINITY;
  }
  return d;
}

void run(const Shape &s, Data &d) {
  long long strideB = 0, strideH = 0, strideL = s.S;
  const void *q = d.q.data(), *k = d.k.data(), *v = d.v.data(), *o = d.out.data(), *l = d.lse.data();
  const void *mask = s.mask == 1 ? static_cast<const void *>(d.keep.data()) : d.bias.data();
  std::vector<const void *> arguments = {&q, &k, &v};
  if (s.mask)
    arguments.insert(arguments.end(), {&mask, &strideB, &strideH, &strideL});
  arguments.insert(arguments.end(), {&o, &l, &s.B, &s.H, &s.Hkv, &s.L, &s.S, &d.scale, &s.causal});
  Loaded(kernelFor(s)).run({uint32_t((s.L + 63) / 64 * s.H * s.B), 1, 1}, arguments);
}

double score(const Shape &s, const Data &d, int64_t row, int64_t keyRow, int i, int j) {
  int seen = s.causal ? i + 1 + (s.causal == 2 ? s.S - s.L : 0) : s.S;
  if (j >= seen || (s.mask == 1 && !d.keep[size_t(i) * s.S + j]))
    return -INFINITY;
  double sum = 0;
  for (int e = 0; e < s.D; ++e)
    sum += double(d.q[row * s.D + e]) * d.k[(keyRow + j) * s.D + e];
  return sum * d.scale + (s.mask == 2 ? d.bias[size_t(i) * s.S + j] : 0);
}

double difference(double got, double want) {
  return got == want ? 0 : std::isfinite(got) ? std::abs(got - want) / std::max(1.0, std::abs(want)) : INFINITY;
}

/// Largest error of row `row` over its outputs and log-sum-exp.
double errorOfRow(const Shape &s, const Data &d, int64_t row) {
  int64_t b = row / (int64_t(s.H) * s.L), h = row / s.L % s.H;
  int64_t keyRow = (b * s.Hkv + h / (s.H / s.Hkv)) * s.S;
  std::vector<double> p(s.S);
  double largest = -INFINITY, sum = 0;
  for (int j = 0; j < s.S; ++j)
    largest = std::max(largest, p[j] = score(s, d, row, keyRow, int(row % s.L), j));
  for (double &x : p)
    sum += x = std::isinf(largest) ? 0 : std::exp(x - largest);
  double worst = difference(d.lse[row], sum > 0 ? largest + std::log(sum) : -INFINITY);
  for (int e = 0; e < s.Dv; ++e) {
    double want = 0;
    for (int j = 0; j < s.S; ++j)
      want += p[j] * d.v[(keyRow + j) * s.Dv + e];
    worst = std::max(worst, difference(d.out[row * s.Dv + e], sum > 0 ? want / sum : 0));
  }
  return worst;
}

class FlashSimd : public ::testing::TestWithParam<Shape> {};

TEST_P(FlashSimd, IsRightWhere) {
  const Shape &s = GetParam();
  Data d = makeData(s);
  run(s, d);
  for (int64_t row = 0; row < int64_t(s.B) * s.H * s.L; ++row)
    ASSERT_LE(errorOfRow(s, d, row), 2e-6) << "row " << row;
}

INSTANTIATE_TEST_SUITE_P(
    Corners, FlashSimd,
    ::testing::Values(Shape{1, 2, 2, 128, 128, 64, 64, 0, 0, 16, "everything is whole tiles"},
                      Shape{2, 2, 1, 65, 67, 64, 64, 0, 0, 16, "one query and three keys are left over"},
                      Shape{1, 1, 1, 1, 1, 64, 64, 0, 0, 16, "there is one query and one key"},
                      Shape{1, 2, 1, 3, 0, 64, 64, 0, 0, 16, "there are no keys"},
                      Shape{1, 2, 2, 150, 150, 64, 64, 1, 0, 16, "causal and no multiple of anything"},
                      Shape{1, 2, 2, 90, 41, 64, 64, 2, 0, 16, "the first queries see nothing"},
                      Shape{1, 2, 2, 41, 190, 64, 64, 2, 0, 16, "the triangle starts in the third tile"},
                      Shape{1, 2, 2, 41, 190, 64, 64, 1, 0, 16, "most keys are never seen"},
                      Shape{1, 4, 2, 70, 80, 37, 6, 1, 0, 16, "dimensions fill no register"},
                      Shape{1, 1, 1, 33, 70, 1, 1, 0, 0, 16, "dimensions are 1"},
                      Shape{2, 4, 2, 77, 131, 40, 24, 0, 1, 16, "a bool mask hides a whole row"},
                      Shape{2, 4, 2, 77, 131, 40, 24, 2, 2, 16, "an additive mask meets a triangle"},
                      Shape{2, 4, 2, 77, 131, 37, 6, 1, 1, 8, "registers have eight lanes"}),
    [](const auto &info) {
      std::string name = info.param.why;
      for (char &c : name)
        c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });

Shape plain(int L, int S) { return {1, 1, 1, L, S, 64, 64, 0, 0, 16, ""}; }

TEST(FlashSimdValues, LargeScoresNeitherOverflowNorLoseTheirOrder) {
  Shape s = plain(64, 200);
  Data d = makeData(s);
  for (float &x : d.q)
    x = std::round(x * 16 * 64) / 16; // scores of hundreds, exact in float
  for (float &x : d.k)
    x = std::round(x * 16) / 16;
  d.scale = 0.125f;
  run(s, d);
  for (int row = 0; row < s.L; ++row)
    ASSERT_LE(errorOfRow(s, d, row), 2e-6) << "row " << row;
}

TEST(FlashSimdValues, AMaskedWeightIsZeroHoweverLowTheOthersAre) {
  Shape s = {1, 1, 1, 1, 2, 1, 1, 0, 1, 16, ""};
  Data d = makeData(s);
  d.q = {-20000}, d.k = {1, 0}, d.v = {1, 100}, d.keep = {1, 0}, d.scale = 1;
  run(s, d);
  EXPECT_EQ(d.out[0], 1.0f);
  s.mask = 2;
  d.bias = {-3.4028235e38f, -3.4028235e38f}; // the lowest float on every key hides none of them
  d.v = {2, 4}, d.k = {0, 0};
  run(s, d);
  EXPECT_EQ(d.out[0], 3.0f);
}

TEST(FlashSimdValues, ATileOfHiddenKeysFirstDoesNotPoisonTheRest) {
  Shape s = {1, 1, 1, 1, 128, 64, 64, 0, 1, 16, ""};
  Data d = makeData(s);
  std::fill(d.q.begin(), d.q.end(), 0.0f);
  for (int j = 0; j < 128; ++j) {
    d.keep[j] = j >= 64;
    std::fill_n(d.v.begin() + j * 64, 64, float(j));
  }
  run(s, d);
  EXPECT_EQ(d.out[0], 95.5f);
}

TEST(FlashSimdValues, AShiftedLongRowKeepsItsError) {
  Shape s = plain(64, 8191);
  Data d = makeData(s);
  for (float &x : d.v)
    x += 3;
  run(s, d);
  for (int row = 0; row < s.L; row += 7)
    ASSERT_LE(errorOfRow(s, d, row), 2e-6) << "row " << row;
}

TEST(FlashSimdValues, ANanScoreIsSeen) {
  Shape s = plain(5, 70);
  Data d = makeData(s);
  d.q[64 * 2 + 3] = NAN;
  run(s, d);
  EXPECT_TRUE(std::isnan(d.out[64 * 2]));
  EXPECT_TRUE(std::isfinite(d.out[64 * 3]));
}

TEST(FlashSimdValues, TwoRunsAgreeBitForBit) {
  Shape s = {1, 3, 3, 100, 300, 64, 64, 1, 0, 16, ""};
  Data first = makeData(s), second = makeData(s);
  run(s, first);
  run(s, second);
  EXPECT_EQ(first.out, second.out);
}

} // namespace
} // namespace opsight::lower
