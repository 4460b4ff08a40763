// The tile library, compiled for the host: what its headers state about errors and layouts.
#include "native_run.h"
#include <cmath>
#include <random>

namespace opsight::lower {
namespace {

// Tests include the headers by absolute path and run at both register widths.
class Tiles : public ::testing::TestWithParam<int> {
protected:
  Result<card::Artifact> compile(const std::string &body) {
    std::string lanes = std::to_string(GetParam());
    Target target;
    target.processor = GetParam() == 16 ? "native" : "x86-64-v3";
    return compileText("#define LANES " + lanes + "\n#include \"" OPSIGHT_SOURCE_DIR "/kernels/tile/exponential.h\"\n" +
                           "#include \"" OPSIGHT_SOURCE_DIR "/kernels/tile/extents.h\"\n#include \"" OPSIGHT_SOURCE_DIR "/kernels/tile/gelu.h\"\n" +
                           "#include \"" OPSIGHT_SOURCE_DIR "/kernels/tile/row.h\"\n" + body,
                       target);
  }
};

constexpr const char *exponentials = R"(
  __global__ void k(const float *x, float *y, int n) {
    for (int i = 0; i < n; i += LANES)
      tile::store(y + i, tile::exponential(tile::load(x + i)));
  })";

TEST_P(Tiles, TheExponentialKeepsItsStatedError) {
  auto artifact = compile(exponentials);
  ASSERT_TRUE(artifact) << describe(artifact.error());
  int n = 1 << 20;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i)
    x[i] = -87.0f * float(i) / float(n);
  const void *px = x.data(), *py = y.data();
  Loaded(*artifact).run({}, {&px, &py, &n});
  double worst = 0;
  for (int i = 0; i < n; ++i)
    worst = std::max(worst, std::abs(y[i] / std::exp(double(x[i])) - 1) / (1.8e-7 - 1.4e-8 * x[i]));
  EXPECT_LT(worst, 1);
  EXPECT_GT(worst, 0.5) << "the bound is looser than it need be";
}

TEST_P(Tiles, TheExponentialIsExactWhereSoftmaxNeedsIt) {
  auto artifact = compile(exponentials);
  ASSERT_TRUE(artifact) << describe(artifact.error());
  std::vector<float> x(16, 0.0f), y(16, 7.0f);
  x[1] = -0.0f, x[2] = -INFINITY, x[3] = -88, x[4] = -1e30f, x[5] = -87.4f, x[6] = NAN, x[7] = -87.3f;
  int n = 16;
  const void *px = x.data(), *py = y.data();
  Loaded(*artifact).run({}, {&px, &py, &n});
  EXPECT_EQ(y[0], 1.0f);
  EXPECT_EQ(y[1], 1.0f);
  for (int i = 2; i <= 5; ++i)
    EXPECT_EQ(y[i], 0.0f) << x[i];
  EXPECT_TRUE(std::isnan(y[6]));
  EXPECT_GT(y[7], 0.0f);
}

TEST_P(Tiles, GeluKeepsItsStatedError) {
  auto artifact = compile(R"(
    __global__ void k(const float *x, float *erf, float *gelu, int n) {
      for (int i = 0; i < n; i += LANES) {
        tile::store(erf + i, tile::error_function(tile::load(x + i)));
        tile::store(gelu + i, tile::gelu(tile::load(x + i)));
      }
    })");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  int n = 1 << 20;
  std::vector<float> x(n), erf(n), gelu(n);
  for (int i = 0; i < n; ++i)
    x[i] = 20.0f * (float(i) / float(n) - 0.5f);
  x[0] = -INFINITY, x[1] = INFINITY, x[2] = NAN, x[3] = 1e30f, x[4] = 0;
  const void *px = x.data(), *pe = erf.data(), *pg = gelu.data();
  Loaded(*artifact).run({}, {&px, &pe, &pg, &n});
  EXPECT_EQ(erf[0], -1.0f);
  EXPECT_EQ(erf[1], 1.0f);
  EXPECT_TRUE(std::isnan(erf[2]) && std::isnan(gelu[2]));
  EXPECT_EQ(gelu[3], 1e30f);
  EXPECT_EQ(gelu[4], 0.0f);
  double worst = 0, worstGelu = 0;
  for (int i = 5; i < n; ++i) {
    double v = x[i], exact = std::erf(v), exactGelu = v * (1 + std::erf(v / std::sqrt(2.0))) / 2;
    worst = std::max(worst, std::abs(erf[i] - exact) / 2e-7);
    worstGelu = std::max(worstGelu, std::abs(gelu[i] - exactGelu) / (2e-7 * std::max(1.0, std::abs(v))));
  }
  EXPECT_LT(worst, 1);
  EXPECT_LT(worstGelu, 1);
  EXPECT_GT(worst, 0.3) << "the bound is looser than it need be";
}

TEST_P(Tiles, ARowOfAnyLengthIsTakenWholeAndNothingBesideIt) {
  auto artifact = compile(R"(
    __global__ void k(const float *x, float *y, float *sum, int n) {
      sum[0] = tile::sum_over_row(n, [&](auto piece, int column) { return piece.load(x + column, 0.0f); });
      tile::over_row<4>(n, [&](auto piece, int, int column) { piece.store(y + column, 2.0f * piece.load(x + column, 7.0f)); });
    })");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  for (int n : {0, 1, 7, 15, 16, 17, 31, 63, 64, 65, 100, 128, 130, 257}) {
    std::vector<float> x(n + 2, 1e9f), y(n + 2, -1.0f);
    for (int i = 0; i < n; ++i)
      x[1 + i] = float(i + 1);
    float sum = -1;
    const void *px = x.data() + 1, *py = y.data() + 1, *ps = &sum;
    Loaded(*artifact).run({}, {&px, &py, &ps, &n});
    EXPECT_EQ(sum, float(n * (n + 1) / 2)) << n;
    EXPECT_EQ(y[0], -1.0f) << n;
    EXPECT_EQ(y[n + 1], -1.0f) << n;
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(y[1 + i], float(2 * (i + 1))) << n << " " << i;
  }
}

TEST_P(Tiles, ATileComesBackAsItWasLoaded) {
  auto artifact = compile(R"(
    template <int depth> __global__ void k(const float *x, float *y, int rows) {
      tile::simd_tile<depth, 32> t;
      tile::lanes one[t.vectors];
      for (int v = 0; v < t.vectors; ++v) one[v] = tile::splat(1.0f);
      tile::load_transposed(t, x, rows - 32, 2.0f);
      tile::store_transposed(y, t, rows - 32, one);
    }
    template __global__ void k<37>(const float *, float *, int);)");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  int rows = 29; // the tile's first three columns have no row
  std::vector<float> x(rows * 37), y(rows * 37 + 32, -1.0f);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i);
  const void *px = x.data(), *py = y.data() + 16;
  Loaded(*artifact).run({}, {&px, &py, &rows});
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(y[16 + i], 2 * x[i]) << i;
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(y[i], -1.0f);
    EXPECT_EQ(y[y.size() - 1 - i], -1.0f);
  }
}

TEST_P(Tiles, AProductStopsAtEachRegistersExtent) {
  auto artifact = compile(R"(
    __global__ void k(const float *key, const float *query, float *y) {
      tile::simd_tile<5, 64> q;
      tile::load_transposed(q, query, 0, 1.0f);
      tile::simd_tile<16, 64> s;
      for (int k = 0; k < 16; ++k) for (int v = 0; v < s.vectors; ++v) s.at[k][v] = tile::splat(-5.0f);
      tile::extents<64> reach;
      for (int v = 0; v < reach.vectors; ++v) reach.end[v] = 3 + 13 * v / reach.vectors;
      tile::product(s, key, q, reach);
      for (int k = 0; k < 16; ++k) for (int v = 0; v < s.vectors; ++v) tile::store(y + k * 64 + v * LANES, s.at[k][v]);
    })");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  std::mt19937 generator(1);
  std::uniform_int_distribution<int> small(-8, 8); // sums are exact
  std::vector<float> key(16 * 5), query(64 * 5), y(16 * 64);
  for (float &v : key)
    v = float(small(generator));
  for (float &v : query)
    v = float(small(generator));
  const void *pk = key.data(), *pq = query.data(), *py = y.data();
  Loaded(*artifact).run({}, {&pk, &pq, &py});
  int vectors = 64 / GetParam();
  for (int k = 0; k < 16; ++k)
    for (int q = 0; q < 64; ++q) {
      float want = 0;
      for (int d = 0; d < 5; ++d)
        want += key[k * 5 + d] * query[q * 5 + d];
      bool inside = k < 3 + 13 * (q / GetParam()) / vectors;
      EXPECT_EQ(y[k * 64 + q], inside ? want : -5.0f) << k << ' ' << q;
    }
}

INSTANTIATE_TEST_SUITE_P(Lanes, Tiles, ::testing::Values(8, 16));

} // namespace
} // namespace opsight::lower
