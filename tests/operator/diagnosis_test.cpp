// A wrong output is explained: float kernels written here, each with one fault, and the phase the diagnosis names.
#include "operator/operator.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace opsight::ops {
namespace {

using testing::HasSubstr;

const Operator &attention() { return **findOperator("scaled_dot_product_attention"); }

/// An online kernel in float whose faults are switches; written apart from the code under test.
struct Kernel {
  int64_t tile = 64;
  bool noMaximum = false, maximumFromZero = false, keepAcc = false, keepSum = false, sumFirst = false;
  bool noDivision = false, divideZero = false, tileHeads = false, dropTail = false, padTail = false;
  bool ignoreMask = false, otherAnchor = false, nanOnEmptyTile = false;
  double scaleFactor = 1;
  float (*round)(float) = [](float x) { return x; };

  std::vector<float> operator()(const Case &c, const Problem &p) const;
};

std::vector<float> Kernel::operator()(const Case &c, const Problem &p) const {
  auto n = [&](const char *s) { return c.symbols.at(s); };
  int64_t H = n("H"), Hkv = n("Hkv"), L = n("L"), S = n("S"), D = n("D"), Dv = n("Dv");
  constexpr float none = -std::numeric_limits<float>::infinity();
  auto q = p.inputs.at("query").as<float>(), k = p.inputs.at("key").as<float>(), v = p.inputs.at("value").as<float>();
  float scale = float(scaleFactor * *attention().scalarOf(c, "scale"));
  std::vector<float> out(size_t(n("B") * H * L * Dv));
  for (int64_t row = 0; row < n("B") * H * L; ++row) {
    int64_t b = row / (H * L), h = row / L % H, i = row % L, kv = b * Hkv + (tileHeads ? h % Hkv : h / (H / Hkv));
    std::string causal = c.options.at("causal");
    int64_t offset = (causal == "bottom-right") != otherAnchor ? S - L : 0;
    int64_t seen = causal == "none" ? S : i + 1 + offset;
    float maximum = maximumFromZero || noMaximum ? 0 : none, sum = 0;
    std::vector<float> acc(size_t(Dv), 0.0f), score(static_cast<size_t>(tile));
    for (int64_t at = 0; at < S; at += tile) {
      int64_t end = padTail ? at + tile : std::min(S, at + tile);
      if (dropTail && at + tile > S)
        break;
      float larger = maximum;
      for (int64_t j = at; j < end; ++j) {
        float s = 0;
        bool visible = j < std::max(seen, j < S ? int64_t(0) : seen) || j >= S;
        if (j < S && p.inputs.contains("mask") && !ignoreMask)
          visible = visible && p.inputs.at("mask").as<uint8_t>()[size_t((row) * S + j)];
        for (int64_t d = 0; j < S && d < D; ++d)
          s += round(q[size_t(row * D + d)]) * round(k[size_t((kv * S + j) * D + d)]);
        score[size_t(j - at)] = visible ? s * scale : none;
        larger = noMaximum ? 0 : std::max(larger, score[size_t(j - at)]);
      }
      if (larger == none && !nanOnEmptyTile)
        continue;
      float rescale = sum == 0 && !nanOnEmptyTile ? 1 : std::exp(maximum - larger);
      sum *= keepSum || sumFirst ? 1 : rescale;
      for (float &x : acc)
        x *= keepAcc ? 1 : rescale;
      for (int64_t j = at; j < end; ++j) {
        float w = std::exp(score[size_t(j - at)] - larger);
        sum += w;
        for (int64_t d = 0; j < S && d < Dv; ++d)
          acc[size_t(d)] += w * round(v[size_t((kv * S + j) * Dv + d)]);
      }
      sum *= sumFirst ? rescale : 1;
      maximum = larger;
    }
    for (int64_t d = 0; d < Dv; ++d)
      out[size_t(row * Dv + d)] = noDivision ? acc[size_t(d)] : sum == 0 && !divideZero && !maximumFromZero ? 0 : acc[size_t(d)] / sum;
  }
  return out;
}

Case make(Symbols symbols, const char *distribution = "normal", Options options = {}) {
  Case c;
  c.name = "case";
  c.symbols = std::move(symbols);
  c.distribution = distribution;
  c.options = std::move(options);
  return *attention().completeCase(c);
}

Diagnosis diagnose(const Case &c, std::vector<float> (*spoil)(std::vector<float>), const Kernel &kernel) {
  Problem problem = *attention().make(c, 5);
  std::vector<float> out = kernel(c, problem);
  if (spoil)
    out = spoil(std::move(out));
  const auto &want = problem.outputs.at("output");
  int64_t worst = 0;
  double largest = -1;
  for (size_t n = 0; n < out.size(); ++n) {
    double error = std::abs(double(out[n]) - want[n]) / std::max(1.0, std::abs(want[n]));
    error = std::isfinite(error) ? error : 1e300;
    if (error > largest)
      largest = error, worst = int64_t(n);
  }
  EXPECT_GT(largest, 1e-5) << "the fault does not show";
  Tensor tensor{ElementType::Float32, {c.symbols.at("B"), c.symbols.at("H"), c.symbols.at("L"), c.symbols.at("Dv")}, {}};
  tensor.bytes.resize(out.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), out.data(), tensor.bytes.size());
  return attention().diagnose(c, problem, {{"output", tensor}}, "output", worst);
}

struct Expectation {
  const char *name;
  Kernel kernel;
  Case c;
  const char *phase, *because;
};
class Diagnoses : public testing::TestWithParam<Expectation> {};
TEST_P(Diagnoses, NamesThePhaseAndItsEvidence) {
  const Expectation &e = GetParam();
  Diagnosis found = diagnose(e.c, nullptr, e.kernel);
  EXPECT_EQ(found.phase, e.phase) << found.because;
  EXPECT_THAT(found.because, HasSubstr(e.because));
}

float tf32(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  bits &= ~0x1FFFu;
  std::memcpy(&x, &bits, 4);
  return x;
}

const Symbols plain{{"H", 2}, {"L", 40}, {"S", 200}, {"D", 32}};
const Symbols grouped{{"H", 6}, {"Hkv", 3}, {"L", 20}, {"S", 40}, {"D", 16}};
const Symbols oblong{{"L", 30}, {"S", 50}, {"D", 16}};

Case emptyRows() {
  Case c = make(oblong, "normal", {{"mask", "bool"}});
  c.traits = {{"mask", "rows-empty"}};
  return c;
}

INSTANTIATE_TEST_SUITE_P(
    Attention, Diagnoses,
    testing::Values(
        Expectation{"naive", {.noMaximum = true}, make({{"L", 20}, {"S", 70}, {"D", 64}}, "exact-large"), "exponentials",
                    "exp overflows in float past 88.7"},
        Expectation{"zeroMaximum", {.maximumFromZero = true}, make(plain, "low-scores"), "maximum", "without the row's own maximum"},
        Expectation{"accumulator", {.tile = 32, .keepAcc = true}, make(plain), "accumulate",
                    "accumulator of older tiles of 32 keys is not rescaled"},
        Expectation{"sum", {.tile = 16, .keepSum = true}, make(plain), "sum", "sum of older tiles of 16 keys is not rescaled"},
        Expectation{"both", {.tile = 64, .keepAcc = true, .keepSum = true}, make(plain), "accumulate",
                    "neither sum nor accumulator of older tiles of 64"},
        Expectation{"order", {.tile = 64, .sumFirst = true}, make(plain), "sum", "before the older sum is rescaled"},
        Expectation{"division", {.noDivision = true}, make(plain), "normalise", "division by"},
        Expectation{"emptyRow", {.divideZero = true}, emptyRows(), "normalise", "sees no key"},
        Expectation{"heads", {.tileHeads = true}, make(grouped), "indexing", "h % Hkv"},
        Expectation{"unscaled", {.scaleFactor = std::sqrt(32.0)}, make(plain), "scores", "not scaled"},
        Expectation{"overD", {.scaleFactor = 1 / std::sqrt(32.0)}, make(plain), "scores", "divided by D = 32"},
        Expectation{"base2", {.scaleFactor = std::log(2.0)}, make(plain), "scores", "base 2"},
        Expectation{"tail", {.dropTail = true}, make(plain), "indexing",
                    "the last 8 keys are left out, a partial tile of 16 or 32 or 64"},
        Expectation{"padding", {.padTail = true}, make(plain), "indexing", "padded to 64 with 56 keys"},
        Expectation{"mask", {.ignoreMask = true}, make(oblong, "normal", {{"mask", "bool"}}), "mask", "ignored"},
        Expectation{"anchor", {.otherAnchor = true}, make(oblong, "normal", {{"causal", "top-left"}}), "mask",
                    "anchored bottom-right"},
        Expectation{"tf32", {.round = tf32}, make(plain), "scores", "bits of mantissa"}),
    [](const auto &info) { return info.param.name; });

TEST(Diagnosis, SeesRowsOutOfPlace) {
  Diagnosis found = diagnose(make(plain), [](std::vector<float> out) {
    std::rotate(out.begin(), out.begin() + 32, out.end());
    return out;
  }, {});
  EXPECT_EQ(found.phase, "indexing");
  EXPECT_THAT(found.because, HasSubstr("holds the right answer of row"));
}

TEST(Diagnosis, SeesColumnsOutOfPlace) {
  Diagnosis found = diagnose(make(plain), [](std::vector<float> out) {
    std::rotate(out.begin(), out.begin() + 1, out.end());
    return out;
  }, {});
  EXPECT_EQ(found.phase, "indexing");
  EXPECT_THAT(found.because, HasSubstr("columns are shifted by 1"));
}

TEST(Diagnosis, SeesAFirstTileThatIsMasked) {
  Case c = make({{"L", 3}, {"S", 128}, {"D", 8}}, "normal", {{"mask", "bool"}});
  c.traits = {{"mask", "padding-left"}, {"mask_parameter", "64"}};
  Diagnosis found = diagnose(c, nullptr, {.nanOnEmptyTile = true});
  EXPECT_EQ(found.phase, "maximum");
  EXPECT_THAT(found.because, HasSubstr("first 64 key(s)"));
}

TEST(Diagnosis, SaysSoWhenNoKnownFaultFits) {
  Diagnosis found = diagnose(make(plain), [](std::vector<float> out) {
    for (size_t n = 0; n < out.size(); ++n)
      out[n] += float(n % 7);
    return out;
  }, {});
  EXPECT_EQ(found.phase, "unknown");
}

TEST(Diagnosis, NamesTheMaximumWhereARowBesideHasAFarOne) {
  Case c;
  c.symbols = {{"L", 6}, {"S", 70}};
  c.distribution = "see-saw";
  c = *attention().completeCase(c);
  Problem problem = *attention().make(c, 1);
  Tensor out{ElementType::Float32, {1, 1, 6, 64}, {}};
  out.bytes.resize(6 * 64 * sizeof(float));
  for (size_t n = 0; n < 6 * 64; ++n)
    out.as<float>()[n] = float(problem.outputs.at("output")[n]);
  for (float spoilt : {std::numeric_limits<float>::quiet_NaN(), 0.0f}) {
    std::ranges::fill(out.as<float>().subspan(3 * 64, 64), spoilt);
    Diagnosis why = attention().diagnose(c, problem, {{"output", out}}, "output", 3 * 64);
    EXPECT_EQ(why.phase, "maximum") << spoilt;
    EXPECT_THAT(why.because, HasSubstr("its own maximum"));
  }
}

} // namespace
} // namespace opsight::ops
