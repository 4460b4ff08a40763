// What is run: a kernel of bench/kernels with its launch, its operands, what it should compute and how much work that is.
#pragma once
#include "card/session.h"
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace opsight::bench {

/// One parameter of the kernel, in its order.
struct Operand {
  std::vector<std::byte> content;     // a buffer's first content, or the scalar
  bool isBuffer = false;
  bool isFloat = true;                // of the elements that `want` is compared with; else int32
  std::vector<double> want{};         // of an output, by a plain loop in double; empty for inputs and scalars
};

/// What the work is held against.
enum class Roof {
  Peak, // single-precision operations, against the processor's peak
  Copy, // bytes that have to move, against a plain copy of as many
  None, // integers and branches: no roof says much
};

struct Workload {
  std::string file;   // below Opsight's root
  std::string kernel;
  card::LaunchConfig launch{};
  std::vector<Operand> operands{};
  Roof roof = Roof::None;
  double flops = 0;           // a multiply-add counts as two; exp, rsqrt and division as one
  double bytes = 0;           // read and written, each element of each buffer once
  double tolerance = 0;       // of |got - want| / max(1, |want|)
  bool usesWarps = false;     // shuffles: OpenCL has to do them otherwise where the device lacks subgroups of 32
  double mayDiffer = 0;       // share of elements that rounding alone may turn into anything else
  std::string size{};         // for the table, "n 512"
};

/// A row of the table: inputs and wanted results are made only when it is run.
struct Entry {
  const char *name;
  Workload (*make)();
};
const std::vector<Entry> &workloads();
std::vector<Entry> denseWorkloads();  // bound by arithmetic or by branches
std::vector<Entry> streamWorkloads(); // bound by memory

template <class T> std::vector<std::byte> bytesOf(const std::vector<T> &values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <class T> Operand scalar(T value) { return {.content = bytesOf(std::vector<T>{value})}; }
template <class T> Operand input(const std::vector<T> &values) { return {.content = bytesOf(values), .isBuffer = true}; }
/// An output that starts as NaN in every float, so that what is never written is seen.
inline Operand output(std::vector<double> want, bool isFloat = true) {
  std::vector<std::byte> poison(want.size() * 4, std::byte(0xFF));
  return {.content = std::move(poison), .isBuffer = true, .isFloat = isFloat, .want = std::move(want)};
}
/// An output that the kernel adds to.
inline Operand sums(std::vector<double> want, bool isFloat = true) {
  std::vector<std::byte> zeros(want.size() * 4);
  return {.content = std::move(zeros), .isBuffer = true, .isFloat = isFloat, .want = std::move(want)};
}

/// Uniform in [low, high), the same at each run.
inline std::vector<float> uniform(size_t count, float low = -1, float high = 1, unsigned seed = 1) {
  std::minstd_rand random(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(random);
  return values;
}

} // namespace opsight::bench
