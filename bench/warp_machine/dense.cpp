// Kernels that arithmetic or branches bound, each with its plain loop in double.
#include "workload.h"
#include <cmath>
#include <fmt/format.h>

namespace opsight::bench {
namespace {

struct AttentionSize {
  int heads, length, dimension = 64;
};

std::vector<double> attentionReference(const AttentionSize &s, const std::vector<float> &q, const std::vector<float> &k,
                                       const std::vector<float> &v) {
  std::vector<double> out(q.size()), weights(s.length);
  size_t D = s.dimension;
  for (size_t row = 0; row < size_t(s.heads) * s.length; ++row) {
    size_t first = row / s.length * s.length; // of the head's keys
    double total = 0;
    for (int j = 0; j < s.length; ++j) {
      double score = 0;
      for (size_t d = 0; d < D; ++d)
        score += double(q[row * D + d]) * k[(first + j) * D + d];
      total += weights[j] = std::exp(score / std::sqrt(double(D))); // scores are small here: no maximum to take off
    }
    for (int j = 0; j < s.length; ++j)
      for (size_t d = 0; d < D; ++d)
        out[row * D + d] += weights[j] / total * v[(first + j) * D + d];
  }
  return out;
}

Workload attention(const char *file, const char *kernel, AttentionSize s, uint32_t rowsOfBlock, uint32_t threads,
                   bool takesDimension) {
  size_t count = size_t(s.heads) * s.length * s.dimension;
  auto q = uniform(count, -1, 1, 1), k = uniform(count, -1, 1, 2), v = uniform(count, -1, 1, 3);
  Workload w{.file = file, .kernel = kernel};
  w.launch = {.grid = {uint32_t(s.length) / rowsOfBlock, uint32_t(s.heads), 1}, .block = {threads, 1, 1}};
  w.operands = {input(q), input(k), input(v), output(attentionReference(s, q, k, v)),
                scalar(s.heads), scalar(s.heads), scalar(s.length), scalar(s.length)};
  if (takesDimension)
    w.operands.push_back(scalar(s.dimension));
  w.operands.push_back(scalar(1 / std::sqrt(float(s.dimension))));
  w.roof = Roof::Peak;
  w.flops = 4.0 * s.heads * s.length * s.length * s.dimension;
  w.bytes = 16.0 * count;
  w.tolerance = 1e-5;
  w.size = fmt::format("H {} L {} D {}", s.heads, s.length, s.dimension);
  return w;
}

constexpr AttentionSize flashSize{8, 512};
Workload flash() {
  Workload w = attention("examples/sdpa/flash.cu", "flash_forward", flashSize, 64, 256, false);
  w.usesWarps = true;
  return w;
}
Workload flashTransposed() {
  Workload w = attention("bench/kernels/flash_transposed.cu", "flash_transposed", flashSize, 64, 256, false);
  w.usesWarps = true;
  return w;
}
Workload flashNoShuffles() {
  return attention("bench/kernels/flash_no_shuffles.cu", "flash_no_shuffles", flashSize, 64, 256, false);
}
Workload naiveAttention() { return attention("examples/sdpa/naive.cu", "naive_attention", {4, 256}, 64, 64, true); }

Workload matmul(const char *kernel, int n, int tile, card::Dim3 block) {
  auto a = uniform(size_t(n) * n, -1, 1, 1), b = uniform(size_t(n) * n, -1, 1, 2);
  std::vector<double> c(size_t(n) * n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j)
        c[size_t(i) * n + j] += double(a[size_t(i) * n + k]) * b[size_t(k) * n + j];
  Workload w{.file = fmt::format("bench/kernels/{}.cu", kernel), .kernel = kernel};
  w.launch = {.grid = {uint32_t(n / tile), uint32_t(n / tile), 1}, .block = block};
  w.operands = {input(a), input(b), output(std::move(c)), scalar(n)};
  w.roof = Roof::Peak;
  w.flops = 2.0 * n * n * n;
  w.bytes = 12.0 * n * n;
  w.tolerance = 2e-5;
  w.size = fmt::format("n {}", n);
  return w;
}
Workload matmulTile32() { return matmul("matmul_tile32", 512, 32, {32, 32, 1}); }
Workload matmulTile64() { return matmul("matmul_tile64", 768, 64, {256, 1, 1}); }

std::vector<double> accelerations(const std::vector<float> &bodies, double softening) {
  std::vector<double> out(bodies.size());
  for (size_t i = 0; i < bodies.size(); i += 4)
    for (size_t j = 0; j < bodies.size(); j += 4) {
      double d[3], squared = softening;
      for (int axis = 0; axis < 3; ++axis) {
        d[axis] = double(bodies[j + axis]) - bodies[i + axis];
        squared += d[axis] * d[axis];
      }
      double pull = bodies[j + 3] / (squared * std::sqrt(squared));
      for (int axis = 0; axis < 3; ++axis)
        out[i + axis] += d[axis] * pull;
    }
  return out;
}

Workload nbody() {
  constexpr int n = 4096;
  constexpr float softening = 0.01f;
  auto bodies = uniform(4 * n);
  for (size_t i = 3; i < bodies.size(); i += 4)
    bodies[i] = (bodies[i] + 2) / n; // masses
  Workload w{.file = "bench/kernels/nbody.cu", .kernel = "nbody"};
  w.launch = {.grid = {n / 256, 1, 1}, .block = {256, 1, 1}};
  w.operands = {input(bodies), output(accelerations(bodies, softening)), scalar(n), scalar(softening)};
  w.roof = Roof::Peak;
  w.flops = 20.0 * n * n; // as the literature counts an interaction
  w.bytes = 32.0 * n;
  w.tolerance = 1e-4;
  w.size = fmt::format("n {}", n);
  return w;
}

Workload mandelbrot() {
  constexpr int width = 768, height = 512, most = 256;
  std::vector<double> steps(width * height);
  double total = 0;
  for (int i = 0; i < width * height; ++i) {
    double cx = -2 + 3.0 * (i % width) / width, cy = -1 + 2.0 * (i / width) / height, x = 0, y = 0;
    int step = 0;
    for (; step < most && x * x + y * y < 4; ++step) {
      double next = x * x - y * y + cx;
      y = 2 * x * y + cy;
      x = next;
    }
    total += steps[i] = step;
  }
  Workload w{.file = "bench/kernels/mandelbrot.cu", .kernel = "mandelbrot"};
  w.launch = {.grid = {width / 16, height / 16, 1}, .block = {16, 16, 1}};
  w.operands = {output(std::move(steps), false), scalar(width), scalar(height), scalar(most)};
  w.roof = Roof::Peak;
  w.flops = 10 * total;
  w.bytes = 4.0 * width * height;
  w.mayDiffer = 0.02; // on the edge of the set a last bit decides
  w.size = fmt::format("{} x {}, {} steps", width, height, most);
  return w;
}

Workload collatz() {
  constexpr int n = 1 << 18, most = 400;
  std::vector<double> steps(n);
  for (int i = 0; i < n; ++i) {
    uint32_t x = uint32_t(i) + 1;
    int step = 0;
    for (; x != 1 && step < most; ++step)
      x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    steps[i] = step;
  }
  Workload w{.file = "bench/kernels/collatz.cu", .kernel = "collatz"};
  w.launch = {.grid = {n / 256, 1, 1}, .block = {256, 1, 1}};
  w.operands = {output(std::move(steps), false), scalar(n), scalar(most)};
  w.bytes = 4.0 * n;
  w.size = fmt::format("n {}", n);
  return w;
}

} // namespace

std::vector<Entry> denseWorkloads() {
  return {{"flash", flash},
          {"flash_transposed", flashTransposed},
          {"flash_no_shuffles", flashNoShuffles},
          {"naive_attention", naiveAttention},
          {"matmul_tile32", matmulTile32},
          {"matmul_tile64", matmulTile64},
          {"nbody", nbody},
          {"mandelbrot", mandelbrot},
          {"collatz", collatz}};
}

} // namespace opsight::bench
