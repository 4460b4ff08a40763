// Calls a ported attention from C++: the header and the library are all it needs. Build it as examples/use/README.md says.
//
// The port is built for D = Dv = 64 without a mask; its header says what it takes, artifact/manifest.json how it is launched.
#include "opsight_flash_simd_64_64_4.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int D = 64, queryTile = 64; // as the port was built

struct Problem {
  int B = 2, H = 4, L = 500, S = 700;
  float scale = 1 / std::sqrt(float(D));
  std::vector<float> query, key, value, output, lse;

  Problem() : query(size_t(B) * H * L * D), key(size_t(B) * H * S * D), value(key.size()), output(query.size()), lse(size_t(B) * H * L) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (std::vector<float> *tensor : {&query, &key, &value})
      std::ranges::generate(*tensor, [&] { return normal(random); });
  }
};

/// The grid's blocks in equal shares, one a thread: `begin` and `end` count blocks.
void attention(Problem &p) {
  const uint32_t grid[3] = {uint32_t((p.L + queryTile - 1) / queryTile * p.H * p.B), 1, 1};
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> team;
  for (unsigned t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      opsight_flash_simd_64_64_4_run(grid, uint64_t(grid[0]) * t / threads, uint64_t(grid[0]) * (t + 1) / threads, p.query.data(),
                                     p.key.data(), p.value.data(), p.output.data(), p.lse.data(), p.B, p.H, /*Hkv=*/p.H, p.L, p.S,
                                     p.scale, /*causal=*/0);
    });
}

/// Row (plane, i) of the output in double precision.
std::vector<double> rowOf(const Problem &p, int plane, int i) {
  std::vector<double> weights(size_t(p.S)), row(D, 0.0);
  double largest = -INFINITY, sum = 0;
  for (int j = 0; j < p.S; ++j) {
    for (int d = 0; d < D; ++d)
      weights[j] += double(p.query[(size_t(plane) * p.L + i) * D + d]) * p.key[(size_t(plane) * p.S + j) * D + d];
    largest = std::max(largest, weights[j] *= p.scale);
  }
  for (double &weight : weights)
    sum += weight = std::exp(weight - largest);
  for (int j = 0; j < p.S; ++j)
    for (int d = 0; d < D; ++d)
      row[d] += weights[j] / sum * p.value[(size_t(plane) * p.S + j) * D + d];
  return row;
}

} // namespace

int main() {
  Problem p;
  attention(p);
  double worst = 0;
  for (int plane = 0; plane < p.B * p.H; ++plane)
    for (int i = 0; i < p.L; ++i) {
      const std::vector<double> want = rowOf(p, plane, i);
      for (int d = 0; d < D; ++d) {
        const double error = std::abs(p.output[(size_t(plane) * p.L + i) * D + d] - want[d]) / std::max(1.0, std::abs(want[d]));
        worst = error <= worst ? worst : error; // a NaN stays
      }
    }
  std::printf("B=%d H=%d L=%d S=%d D=%d: largest error %.2g against double precision\n", p.B, p.H, p.L, p.S, D, worst);
  return worst < 2e-6 ? 0 : 1;
}
