// Rows that break kernels, by name, and the names that kernels give to the sizes of a matrix.
#include "operator/row_wise.h"
#include <cmath>

namespace opsight::ops {
namespace {

struct Rows {
  Extent extent;
  Random &random;
  std::span<float> matrix;

  /// Calls value(row, column) for every element.
  template <class Value> void each(Value value) {
    for (int64_t r = 0; r < extent.N; ++r)
      for (int64_t j = 0; j < extent.C; ++j)
        matrix[size_t(r * extent.C + j)] = float(value(r, j));
  }
  double normal() { return random.normal(); }
};

void normal(Rows &m) { m.each([&](auto...) { return m.normal(); }); }
void scaled(Rows &m) { m.each([&](auto...) { return 30 * m.normal(); }); }
/// A mean that dwarfs the spread: E[x²] - E[x]² has no bits left, and exp overflows unless the maximum is taken off.
void shifted(Rows &m) { m.each([&](auto...) { return 1e4 + m.normal(); }); }
/// The same in whole numbers: every sum of them is exact, so that a right kernel has no excuse.
void shiftedExact(Rows &m) { m.each([&](auto...) { return 128.0 + double(m.random.below(7) - 3); }); }
void longTailed(Rows &m) { m.each([&](auto...) { return m.normal() * std::exp(1.5 * std::min(m.normal(), 2.5)); }); }
void peaked(Rows &m) {
  normal(m);
  for (int64_t r = 0; r < m.extent.N; ++r)
    m.matrix[size_t(r * m.extent.C + m.random.below(m.extent.C))] += 40;
}
/// Small, since a spread of 0 makes a normalisation magnify the last bit of the mean.
void constant(Rows &m) {
  double value = 0;
  m.each([&](int64_t, int64_t j) { return value = j ? value : double(m.random.below(17) - 8) / 64; });
}
void rising(Rows &m) { m.each([&](int64_t, int64_t j) { return 0.25 * double(j) + m.normal(); }); }
void falling(Rows &m) { m.each([&](int64_t, int64_t j) { return -0.25 * double(j) + m.normal(); }); }
void lateMaximum(Rows &m) { m.each([&](int64_t, int64_t j) { return j == m.extent.C - 1 ? 12 : 0.5 * m.normal(); }); }
void earlyMaximum(Rows &m) { m.each([&](int64_t, int64_t j) { return j == 0 ? 12 : 0.5 * m.normal(); }); }
void lateLarge(Rows &m) { m.each([&](int64_t, int64_t j) { return j == m.extent.C - 1 ? 120 : m.normal(); }); }
void allNegative(Rows &m) { m.each([&](int64_t r, int64_t j) { return double(j % 32 - 100 - r % 2); }); }
void lowConstant(Rows &m) { m.each([&](auto...) { return -1000; }); }
void farApart(Rows &m) {
  constexpr double levels[] = {378.1, -249.9, -424.1};
  m.each([&](int64_t r, int64_t j) { return levels[(r + j) % 3] + m.normal(); });
}
void tiny(Rows &m) { m.each([&](auto...) { return 1e-4 * m.normal(); }); }
void zero(Rows &m) { m.each([&](auto...) { return 0; }); }
void outliers(Rows &m) {
  normal(m);
  for (size_t n = 0; n < m.matrix.size(); n += 97)
    m.matrix[n] *= 50;
}
/// Every third row has nothing, the one after it every other element.
void minusInfinity(Rows &m) {
  m.each([&](int64_t r, int64_t j) { return r % 3 == 0 || (r % 3 == 1 && j % 2) ? -INFINITY : m.normal(); });
}
/// Leading infinities, whole tiles of them, in every row: a running maximum that is still minus infinity.
void maskedBeginning(Rows &m) {
  m.each([&](int64_t r, int64_t j) { return j < std::min<int64_t>(m.extent.C - 1, 40 + 30 * r) ? -INFINITY : m.normal(); });
}
void notANumber(Rows &m) {
  m.each([&](int64_t r, int64_t j) { return r % 2 == 1 && j == m.extent.C / 2 ? NAN : m.normal(); });
}
/// The value tells which row it is of.
void rowIndex(Rows &m) { m.each([&](int64_t r, int64_t j) { return 0.01 * double(r % 1000) * double(j % 5) + m.normal(); }); }

struct Distribution {
  std::string_view name;
  void (*fill)(Rows &);
};
const Distribution distributions[] = {
    {"normal", normal},          {"scaled", scaled},           {"shifted", shifted},         {"peaked", peaked},
    {"long-tailed", longTailed}, {"constant", constant},       {"shifted-exact", shiftedExact},
    {"rising", rising},          {"falling", falling},         {"late-maximum", lateMaximum}, {"early-maximum", earlyMaximum},
    {"late-large", lateLarge},   {"all-negative", allNegative}, {"low-constant", lowConstant}, {"far-apart", farApart},
    {"tiny", tiny},              {"zero", zero},               {"outliers", outliers},       {"minus-infinity", minusInfinity},
    {"masked-beginning", maskedBeginning}, {"not-a-number", notANumber}, {"row-index", rowIndex},
    {"zero-weight", normal},     {"zero-gradient", normal},
};

} // namespace

bool fillRows(const std::string &name, const Extent &extent, Random &random, std::span<float> matrix) {
  for (const Distribution &d : distributions)
    if (d.name == name) {
      Rows rows{extent, random, matrix};
      d.fill(rows);
      return true;
    }
  return false;
}

Description onRows(Description own) {
  own.symbols = {{"N", "rows", ""}, {"C", "columns", "", 1}};
  const std::vector<ScalarInfo> sizes = {
      {"N", {"rows", "num_rows", "n_rows", "nrows", "row_count", "bt", "num_tokens", "n_tokens", "tokens", "outer", "outer_size"}},
      {"C", {"c", "cols", "columns", "col", "num_cols", "n_cols", "ncols", "num_columns", "d", "dim", "hidden", "hidden_size",
             "hidden_dim", "hidden_units", "d_model", "n_embd", "features", "num_features", "channels", "v", "vocab_size",
             "row_size", "normalized_shape", "inner", "inner_size"}},
      {"B", {"b", "bs", "batch", "batch_size"}},
      {"T", {"t", "seq", "seq_len", "seqlen", "sequence_length"}},
      {"row_stride", {"row_stride", "stride", "input_row_stride", "in_row_stride", "ldx"}},
      {"output_row_stride", {"output_row_stride", "out_row_stride", "ldy"}},
  };
  own.scalars.insert(own.scalars.begin(), sizes.begin(), sizes.end());
  own.sharedSizes = {{{"n", "m", "size", "len", "length", "num_elements"}, "N", "C", "the number of rows or of columns", "", true}};
  own.speedSizes = "N=8192 C=1024";
  for (const Distribution &d : distributions)
    own.distributions.emplace_back(d.name);
  return own;
}

} // namespace opsight::ops
