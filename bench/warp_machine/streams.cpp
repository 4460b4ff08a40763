// Kernels that memory bounds, each with its plain loop in double. Their data is tens of MB: more than the second-level
// caches of usual processors, less than the last-level caches of some; the copy they are held against is of the same size.
#include "workload.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace opsight::bench {
namespace {

Workload stream(const char *kernel, double bytes, std::string size, double tolerance, bool usesWarps) {
  Workload w{.file = fmt::format("bench/kernels/{}.cu", kernel), .kernel = kernel};
  w.roof = Roof::Copy;
  w.bytes = bytes;
  w.tolerance = tolerance;
  w.usesWarps = usesWarps;
  w.size = std::move(size);
  return w;
}

Workload softmax() {
  constexpr int rows = 1024, columns = 4096;
  auto in = uniform(size_t(rows) * columns, -4, 4);
  std::vector<double> want(in.begin(), in.end());
  for (int row = 0; row < rows; ++row) {
    double total = 0, *y = &want[size_t(row) * columns];
    for (int i = 0; i < columns; ++i)
      total += y[i] = std::exp(y[i]);
    for (int i = 0; i < columns; ++i)
      y[i] /= total;
  }
  Workload w = stream("softmax", 8.0 * in.size(), fmt::format("{} x {}", rows, columns), 1e-6, true);
  w.launch = {.grid = {rows, 1, 1}, .block = {256, 1, 1}};
  w.operands = {input(in), output(std::move(want)), scalar(columns)};
  return w;
}

Workload transpose() {
  constexpr int width = 2048, height = 1536;
  auto in = uniform(size_t(width) * height);
  std::vector<double> want(in.size());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      want[size_t(x) * height + y] = in[size_t(y) * width + x];
  Workload w = stream("transpose", 8.0 * in.size(), fmt::format("{} x {}", width, height), 0, false);
  w.launch = {.grid = {width / 32, height / 32, 1}, .block = {32, 8, 1}};
  w.operands = {input(in), output(std::move(want)), scalar(width), scalar(height)};
  return w;
}

Workload histogram() {
  constexpr int n = 1 << 23;
  std::vector<unsigned char> data(n);
  std::vector<double> want(256);
  std::minstd_rand random(1);
  for (unsigned char &byte : data)
    ++want[byte = (unsigned char)(random() >> 16)];
  Workload w = stream("histogram", n, fmt::format("n {}", n), 0, false);
  w.launch = {.grid = {64, 1, 1}, .block = {256, 1, 1}};
  w.operands = {input(data), sums(std::move(want), false), scalar(n)};
  return w;
}

Workload scan(const char *kernel, bool usesWarps) {
  constexpr int n = 1 << 22;
  auto in = uniform(n, 0, 1);
  std::vector<double> want(n);
  for (int i = 0; i < n; ++i)
    want[i] = in[i] + (i % 256 ? want[i - 1] : 0);
  Workload w = stream(kernel, 8.0 * n, fmt::format("n {}", n), 1e-5, usesWarps);
  w.launch = {.grid = {n / 256, 1, 1}, .block = {256, 1, 1}};
  w.operands = {input(in), output(std::move(want)), scalar(n)};
  return w;
}
Workload scanShared() { return scan("scan_shared", false); }
Workload scanShuffle() { return scan("scan_shuffle", true); }

Workload stencil() {
  constexpr int width = 2500, height = 2000; // not whole in blocks across
  constexpr float rate = 0.2f;
  auto in = uniform(size_t(width) * height);
  std::vector<double> want(in.begin(), in.end());
  for (int y = 1; y < height - 1; ++y)
    for (int x = 1; x < width - 1; ++x) {
      size_t i = size_t(y) * width + x;
      want[i] += rate * (double(in[i - 1]) + in[i + 1] + in[i - width] + in[i + width] - 4.0 * in[i]);
    }
  Workload w = stream("stencil", 8.0 * in.size(), fmt::format("{} x {}", width, height), 1e-6, false);
  w.launch = {.grid = {(width + 31) / 32, (height + 7) / 8, 1}, .block = {32, 8, 1}};
  w.operands = {input(in), output(std::move(want)), scalar(width), scalar(height), scalar(rate)};
  return w;
}

/// Mean and 1 / deviation of each row.
struct RowStatistics {
  std::vector<double> mean, rstd;
};
RowStatistics statistics(const std::vector<float> &in, int rows, int columns) {
  RowStatistics s;
  for (int row = 0; row < rows; ++row) {
    const float *x = &in[size_t(row) * columns];
    double sum = 0, squares = 0;
    for (int i = 0; i < columns; ++i)
      sum += x[i];
    for (int i = 0; i < columns; ++i)
      squares += (x[i] - sum / columns) * (x[i] - sum / columns);
    s.mean.push_back(sum / columns);
    s.rstd.push_back(1 / std::sqrt(squares / columns + 1e-5));
  }
  return s;
}

constexpr int layerRows = 4096, layerColumns = 768;

Workload layernormForward() {
  auto in = uniform(size_t(layerRows) * layerColumns), weight = uniform(layerColumns, 0.5f, 1.5f, 2),
       bias = uniform(layerColumns, -1, 1, 3);
  RowStatistics s = statistics(in, layerRows, layerColumns);
  std::vector<double> want(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    size_t row = i / layerColumns, column = i % layerColumns;
    want[i] = (in[i] - s.mean[row]) * s.rstd[row] * weight[column] + bias[column];
  }
  Workload w = stream("layernorm_forward", 8.0 * in.size(), fmt::format("{} x {}", layerRows, layerColumns), 1e-5, true);
  w.launch = {.grid = {layerRows / 8, 1, 1}, .block = {256, 1, 1}};
  w.operands = {input(in), input(weight), input(bias), output(std::move(want)), output(s.mean), output(s.rstd),
                scalar(layerRows), scalar(layerColumns)};
  return w;
}

Workload layernormBackward() {
  auto in = uniform(size_t(layerRows) * layerColumns), weight = uniform(layerColumns, 0.5f, 1.5f, 2),
       gradient = uniform(in.size(), -1, 1, 4);
  RowStatistics s = statistics(in, layerRows, layerColumns);
  std::vector<double> inGradient(in.size()), weightGradient(layerColumns), biasGradient(layerColumns);
  for (int row = 0; row < layerRows; ++row) {
    const float *x = &in[size_t(row) * layerColumns], *g = &gradient[size_t(row) * layerColumns];
    double sum = 0, projected = 0;
    auto normed = [&](int i) { return (x[i] - s.mean[row]) * s.rstd[row]; };
    for (int i = 0; i < layerColumns; ++i) {
      sum += double(g[i]) * weight[i] / layerColumns;
      projected += double(g[i]) * weight[i] * normed(i) / layerColumns;
      weightGradient[i] += g[i] * normed(i);
      biasGradient[i] += g[i];
    }
    for (int i = 0; i < layerColumns; ++i)
      inGradient[size_t(row) * layerColumns + i] = (double(g[i]) * weight[i] - sum - normed(i) * projected) * s.rstd[row];
  }
  std::vector<float> mean(s.mean.begin(), s.mean.end()), rstd(s.rstd.begin(), s.rstd.end());
  Workload w = stream("layernorm_backward", 12.0 * in.size(), fmt::format("{} x {}", layerRows, layerColumns), 1e-4, true);
  w.launch = {.grid = {64, 1, 1}, .block = {256, 1, 1}, .dynamicSharedBytes = 2 * layerColumns * 4};
  w.operands = {input(in), input(weight), input(mean), input(rstd), input(gradient), output(std::move(inGradient)),
                sums(std::move(weightGradient)), sums(std::move(biasGradient)), scalar(layerRows), scalar(layerColumns)};
  return w;
}

Workload reduction() {
  constexpr int n = 1 << 23;
  auto in = uniform(n, 0, 1);
  double total = 0;
  for (float x : in)
    total += x;
  Workload w = stream("reduction", 4.0 * n, fmt::format("n {}", n), 1e-5, true);
  w.launch = {.grid = {128, 1, 1}, .block = {256, 1, 1}};
  w.operands = {input(in), sums({total}), scalar(n)};
  return w;
}

} // namespace

std::vector<Entry> streamWorkloads() {
  return {{"softmax", softmax},
          {"transpose", transpose},
          {"histogram", histogram},
          {"scan_shared", scanShared},
          {"scan_shuffle", scanShuffle},
          {"stencil", stencil},
          {"layernorm_forward", layernormForward},
          {"layernorm_backward", layernormBackward},
          {"reduction", reduction}};
}

const std::vector<Entry> &workloads() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> entries = denseWorkloads(), streams = streamWorkloads();
    entries.insert(entries.end(), streams.begin(), streams.end());
    return entries;
  }();
  return all;
}

} // namespace opsight::bench
