// What operators have in common whose outputs are judged, and explained, a row at a time; and, of those on N rows of C
// columns, the data that break them.
#pragma once
#include "operator/described.h"
#include "operator/likeness.h"
#include <functional>

namespace opsight::ops {

using Tensors = std::map<std::string, Tensor>;
template <class Real> using Values = std::map<std::string, std::vector<Real>>;

/// The matrix' sizes in `c`.
struct Extent {
  int64_t N, C;
};
inline Extent extentOf(const Case &c) { return {c.symbols.at("N"), c.symbols.at("C")}; }

/// A tensor's elements, or one value for all where the problem has no such tensor.
class Elements {
public:
  Elements(const Tensors &tensors, const std::string &name, double otherwise = 0) : otherwise(otherwise) {
    if (auto found = tensors.find(name); found != tensors.end())
      values = found->second.as<float>();
  }
  double operator[](int64_t n) const { return values.empty() ? otherwise : double(values[size_t(n)]); }

private:
  std::span<const float> values;
  double otherwise;
};

/// Row `r` of a tensor whose rows are `C` wide, in double precision.
std::vector<double> rowOf(const Tensor &tensor, int64_t r, int64_t C);

/// `own` completed by what all operators on rows have: N = "rows" and C = "columns" with the names that kernels give them; B · T,
/// which is N, and strides, which are C; the distributions below; the sizes at which speed is measured.
Description onRows(Description own);

/// A matrix of the named distribution; false where there is none of that name.
bool fillRows(const std::string &distribution, const Extent &extent, Random &random, std::span<float> matrix);

class RowWise : public Described {
public:
  bool hearsEveryInput(const Case &c) const override {
    return c.distribution == "normal" && c.symbols.at("C") >= 16 && c.symbols.at("N") > 0;
  }
  Result<Problem> make(const Case &c, uint64_t seed) const override;
  Presented present(const Case &c, const Problem &problem, const std::vector<std::string> &heard) const override;
  Diagnosis diagnose(const Case &c, const Problem &problem, const Tensors &output, const std::string &tensor,
                     int64_t worst) const override;

protected:
  using Described::Described;

  /// The symbol that counts the rows.
  virtual std::string rowSymbol() const { return "N"; }

  virtual Tensors fill(const Case &c, Random &random) const = 0;
  /// Every output, written as plainly as the formula: in double precision it is right, in float it shows how well float does.
  virtual Values<double> reference(const Case &c, const Tensors &inputs) const = 0;
  virtual Values<float> plain(const Case &c, const Tensors &inputs) const = 0;
  /// Of which rows plain() has values: every so many.
  virtual int64_t plainStep(const Case &) const { return 1; }
  virtual Values<double> magnitudes(const Case &, const Tensors &) const { return {}; }
  /// Ways to get row `r` of `tensor` wrong; of a tensor that has no rows, all of it.
  virtual std::vector<Likeness> likenesses(const Case &c, const Tensors &inputs, const std::string &tensor, int64_t r) const = 0;
  /// What is told of the row by more than a comparison: not finite where it should be, right but for factor and offset.
  virtual std::optional<Diagnosis> explain(const Case &, const Tensors &, const std::string &, int64_t,
                                           const std::vector<double> &, const std::vector<double> &) const {
    return std::nullopt;
  }
};

/// Sizes of blocks and vectors whose partial last group kernels forget.
constexpr int64_t groupSizes[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
/// Threads of a block whose warps' partial results must meet.
constexpr int64_t blockSizes[] = {64, 128, 256, 512, 1024};

/// Of the columns of a row, those that a faulty sum takes in.
struct Subset {
  std::string what; // "the last 3 of 67 columns, a partial group of 4 or 8, are left out"
  std::function<bool(int64_t column)> takes;
};
std::vector<Subset> faultySubsets(int64_t C);

} // namespace opsight::ops
