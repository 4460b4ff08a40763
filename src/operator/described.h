// An operator whose sizes, tensors, options and cases are tables: what is left to write is what it computes, and what a
// wrong answer looks like.
#pragma once
#include "operator/operator.h"
#include "operator/random.h"
#include <algorithm>
#include <thread>

namespace opsight::ops {

/// Symbol, what it means, its value where a case leaves it out ("" must be said), and the least it can be.
struct SymbolRow {
  std::string name, help, otherwise;
  int64_t least = 0;
};

/// One of the operator's own cases.
struct CaseRow {
  const char *sizes; // "N=4 C=65"
  const char *distribution;
  const char *note;
  const char *scalars = ""; // "eps=0.1"
};

struct Description {
  std::string name, summary;
  std::vector<SymbolRow> symbols{};
  std::vector<TensorInfo> tensors;
  std::vector<ScalarInfo> scalars{};
  std::vector<OptionInfo> options;
  std::vector<SharedSize> sharedSizes{};
  std::vector<CaseRow> cases;
  std::string speedSizes{};               // of the case at which speed is measured
  std::vector<std::string> distributions{}; // all that it can make
};

class Described : public Operator {
public:
  std::string_view name() const override { return description.name; }
  std::string_view summary() const override { return description.summary; }
  const std::vector<std::string> &symbols() const override { return symbolNames; }
  std::string symbolHelp(const std::string &symbol) const override;
  const std::vector<TensorInfo> &tensors() const override { return description.tensors; }
  const std::vector<ScalarInfo> &scalars() const override { return description.scalars; }
  const std::vector<OptionInfo> &options() const override { return description.options; }
  const std::vector<SharedSize> &sharedSizes() const override { return description.sharedSizes; }
  std::vector<Case> cases(const Options &options) const override;
  Result<Case> completeCase(Case partial, uint64_t maxBytes = 8ull << 30) const override;
  Case speedCase(const Options &options) const override;
  /// At the values of one problem of these sizes and options: the tensor is there.
  bool has(const std::string &tensor, const Options &options) const;

protected:
  explicit Described(Description described);

private:
  Description description;
  std::vector<std::string> symbolNames;
};

/// A dense tensor of floats, zero.
Tensor floatsOf(std::vector<int64_t> shape);
/// One of floats that are standard normal.
Tensor normalTensor(std::vector<int64_t> shape, Random &random);

/// `options`' value of `name`, "" where it has none.
std::string optionOf(const Options &options, const std::string &name);

/// Calls body(begin, end) for parts of [0, count), on as many threads as `operations` in all are worth.
template <class Body> void inParallel(int64_t count, double operations, Body body) {
  constexpr double smallWork = 1 << 18; // fewer are not worth a thread
  int64_t threads = operations < smallWork
                        ? 1
                        : std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, std::max<int64_t>(count, 1));
  std::vector<std::jthread> pool;
  for (int64_t t = 1; t < threads; ++t)
    pool.emplace_back(body, count * t / threads, count * (t + 1) / threads);
  body(0, count / threads);
}

/// How far `got` is from `want` by the judge's metric, where the magnitude is one for `want.size() / magnitudes.size()`
/// elements in a row, or 1 where there are none.
struct PlainErrors {
  double largest = 0, rms = 0;
};
/// Of `rows` equal parts only every `step`th is looked at.
PlainErrors plainErrors(std::span<const float> got, std::span<const double> want, std::span<const double> magnitudes,
                        size_t rows = 1, size_t step = 1);

} // namespace opsight::ops
