// scaled_dot_product_attention, forward: output[i] = sum_j softmax_j(scale * q_i.k_j + mask_ij) v_j. PyTorch's formula,
// but for one stated deviation: a row that sees no key gives 0 and a log-sum-exp of minus infinity.
//
// The pieces share these views: attention.cpp (what it is), inputs (data and masks), reference (double precision), cases
// (what breaks kernels), diagnose (what a wrong output looks like).
#pragma once
#include "operator/described.h"
#include <cstring>

namespace opsight::ops {

const Operator &scaledDotProductAttention();
const Operator &scaledDotProductAttentionBackward();

namespace attention {

enum class Causal { None = 0, TopLeft = 1, BottomRight = 2 };
enum class MaskKind { None, Bool, Additive };

struct Shape {
  int64_t B = 0, H = 0, Hkv = 0, L = 0, S = 0, D = 0, Dv = 0;
  Causal causal = Causal::None;
  MaskKind mask = MaskKind::None;
  double scale = 1;

  int64_t rows() const { return B * H * L; }
  /// Grouped heads repeat each key-value head for neighbouring query heads (S06).
  int64_t kvHead(int64_t h) const { return h / (H / Hkv); }
  /// Row i sees keys 0 … n-1 under the causal option.
  int64_t visibleKeys(int64_t i) const {
    int64_t n = causal == Causal::None ? S : causal == Causal::TopLeft ? i + 1 : i + 1 + S - L;
    return n < 0 ? 0 : n < S ? n : S;
  }
};
Shape shapeOf(const Case &c);

/// A mask in its own (broadcast) shape, read with strides of 0 where it has one element for many.
struct MaskView {
  const Tensor *tensor = nullptr;
  int64_t strideB = 0, strideH = 0, strideL = 0, strideS = 0;

  MaskView() = default;
  explicit MaskView(const Tensor &mask);
  /// What is added to the score: minus infinity where a bool mask drops the key.
  float at(int64_t b, int64_t h, int64_t i, int64_t j) const;
};

/// The inputs as plain pointers, with the position of each row.
struct Inputs {
  Shape shape;
  const float *query = nullptr, *key = nullptr, *value = nullptr;
  MaskView mask{};

  const float *q(int64_t b, int64_t h, int64_t i) const { return query + ((b * shape.H + h) * shape.L + i) * shape.D; }
  const float *k(int64_t b, int64_t kv, int64_t j) const { return key + ((b * shape.Hkv + kv) * shape.S + j) * shape.D; }
  const float *v(int64_t b, int64_t kv, int64_t j) const { return value + ((b * shape.Hkv + kv) * shape.S + j) * shape.Dv; }
};
Inputs inputsOf(const Case &c, const std::map<std::string, Tensor> &tensors);

/// A row's place from its flat index in (B, H, L).
struct Row {
  int64_t b, h, i;
};
Row rowAt(const Shape &shape, int64_t flat);

/// query, key, value and mask of the case's distribution and traits.
std::map<std::string, Tensor> makeInputs(const Case &c, uint64_t seed);
bool knownDistribution(const std::string &name);
std::vector<std::string> userDistributions();

/// Σ a[d] b[d] in double precision.
double dot(const float *a, const float *b, int64_t n);

/// output and lse in double precision, rows spread over the processor's cores.
std::map<std::string, std::vector<double>> reference(const Inputs &inputs);

/// In which order a plain evaluation sums up. One order's largest error is a matter of luck: on data that float can hardly
/// hold, another right order is easily five times off.
enum class Order { Forwards, Backwards, EvenFirst };
constexpr Order allOrders[] = {Order::Forwards, Order::Backwards, Order::EvenFirst};
/// The nth of `count` terms to be summed.
constexpr int64_t termAt(Order order, int64_t n, int64_t count) {
  const int64_t evens = (count + 1) / 2;
  return order == Order::Forwards ? n : order == Order::Backwards ? count - 1 - n : n < evens ? 2 * n : 2 * (n - evens) + 1;
}

/// Largest and root-mean-square error of plain sequential single precision against `output`, over every `everyRow`th row.
PlainErrors plainErrors(const Inputs &inputs, const std::vector<double> &output, int64_t everyRow = 1,
                        Order order = Order::Forwards);

std::vector<Case> cases(const Options &options);
Diagnosis diagnose(const Inputs &inputs, const Problem &problem, const std::map<std::string, Tensor> &output,
                   const std::string &tensor, int64_t worst);

} // namespace attention
} // namespace opsight::ops
