#include "card/worker/peak.h"
#include <algorithm>
#include <atomic>
#include <immintrin.h>
#include <sys/mman.h>

namespace opsight::card {

namespace {
constexpr int chains = 12; // latency 4 x 2 units, and some to spare; fits sixteen registers with the operands
constexpr int rounds = 20'000;
constexpr uint64_t readBytes = 192ull << 20; // larger than any last-level cache worth the name, read whole

/// Multiply-adds of `rounds` x `chains` vectors; the result is returned so that nothing can be left out.
__attribute__((target("avx512f"))) float burnAvx512(float seed) {
  __m512 sums[chains], a = _mm512_set1_ps(seed), b = _mm512_set1_ps(0.5f);
  for (int i = 0; i < chains; ++i)
    sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < chains; ++i)
      sums[i] = _mm512_fmadd_ps(sums[i], b, a);
  for (int i = 1; i < chains; ++i)
    sums[0] = _mm512_add_ps(sums[0], sums[i]);
  return _mm512_reduce_add_ps(sums[0]);
}

__attribute__((target("avx2,fma"))) float burnAvx2(float seed) {
  __m256 sums[chains], a = _mm256_set1_ps(seed), b = _mm256_set1_ps(0.5f);
  for (int i = 0; i < chains; ++i)
    sums[i] = _mm256_set1_ps(static_cast<float>(i));
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < chains; ++i)
      sums[i] = _mm256_fmadd_ps(sums[i], b, a);
  for (int i = 1; i < chains; ++i)
    sums[0] = _mm256_add_ps(sums[0], sums[i]);
  return sums[0][0];
}

/// For processors without fused multiply-add: a multiplication and an addition count as two operations, too.
float burnPlain(float seed) {
  float sums[chains];
  for (int i = 0; i < chains; ++i)
    sums[i] = static_cast<float>(i);
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < chains; ++i)
      sums[i] = sums[i] * 0.5f + seed;
  float sum = 0;
  for (float s : sums)
    sum += s;
  return sum;
}

struct Burner {
  float (*burn)(float);
  double flops; // of one call
};

Burner bestBurner(uint32_t vectorFloats) {
  constexpr double vectors = 2.0 * chains * rounds;
  if ((vectorFloats == 0 || vectorFloats >= 16) && __builtin_cpu_supports("avx512f"))
    return {burnAvx512, vectors * 16};
  if ((vectorFloats == 0 || vectorFloats >= 8) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {burnAvx2, vectors * 8};
  return {burnPlain, vectors};
}

/// The best of several short runs: others on the machine can only make it slower.
double peakGflops(Pool &pool, uint32_t vectorFloats) {
  Burner burner = bestBurner(vectorFloats);
  std::atomic<float> sink{0};
  double best = 0;
  for (int run = 0; run < 100; ++run) {
    constexpr int calls = 10; // under half a millisecond: short enough to fall between the others' turns

    double seconds = pool.run([&](unsigned) {
      float sum = 0;
      for (int i = 0; i < calls; ++i)
        sum += burner.burn(static_cast<float>(i));
      sink = sum;
    });
    best = std::max(best, burner.flops * calls * pool.size() / seconds / 1e9);
  }
  return best;
}

__attribute__((noinline)) uint64_t sumOf(const uint64_t *words, size_t count) {
  uint64_t lanes[16] = {};
  for (size_t i = 0; i + 16 <= count; i += 16)
    for (size_t j = 0; j < 16; ++j)
      lanes[j] += words[i + j];
  uint64_t sum = 0;
  for (uint64_t lane : lanes)
    sum += lane;
  return sum;
}

double peakReadGbps(Pool &pool) {
  void *memory = ::mmap(nullptr, readBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return 0;
  ::madvise(memory, readBytes, MADV_HUGEPAGE);
  auto *words = static_cast<uint64_t *>(memory);
  size_t share = readBytes / sizeof(uint64_t) / pool.size();
  pool.run([&](unsigned t) { std::fill_n(words + t * share, share, t + 1); });
  std::atomic<uint64_t> sink{0};
  double best = 0;
  for (int run = 0; run < 8; ++run) {
    double seconds = pool.run([&](unsigned t) { sink += sumOf(words + t * share, share); });
    best = std::max(best, static_cast<double>(share) * sizeof(uint64_t) * pool.size() / seconds / 1e9);
  }
  ::munmap(memory, readBytes);
  return best;
}
} // namespace

Session::Peak measurePeakOn(Pool &pool, uint32_t vectorFloats) {
  return {peakGflops(pool, vectorFloats), peakReadGbps(pool)};
}

} // namespace opsight::card
