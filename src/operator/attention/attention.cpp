// What scaled_dot_product_attention is: its symbols, tensors, options, sizes and cost.
#include "operator/attention/attention.h"
#include "operator/attention/shaped.h"
#include <cmath>

namespace opsight::ops {
namespace attention {

Shape shapeOf(const Case &c) {
  Shape s;
  auto size = [&](const char *name) { return c.symbols.at(name); };
  s.B = size("B"), s.H = size("H"), s.Hkv = size("Hkv"), s.L = size("L"), s.S = size("S"), s.D = size("D"),
  s.Dv = size("Dv");
  auto option = [&](const char *name) {
    auto found = c.options.find(name);
    return found == c.options.end() ? std::string("none") : found->second;
  };
  std::string causal = option("causal"), mask = option("mask");
  s.causal = causal == "top-left"       ? Causal::TopLeft
             : causal == "bottom-right" ? Causal::BottomRight
                                        : Causal::None;
  s.mask = mask == "bool" ? MaskKind::Bool : mask == "additive" ? MaskKind::Additive : MaskKind::None;
  // The kernel receives a float, so that is the scale the reference uses.
  auto scale = c.scalars.find("scale");
  s.scale = double(float(scale == c.scalars.end() ? 1 / std::sqrt(double(s.D)) : scale->second));
  return s;
}

Inputs inputsOf(const Case &c, const std::map<std::string, Tensor> &tensors) {
  Inputs in{shapeOf(c)};
  in.query = tensors.at("query").as<float>().data();
  in.key = tensors.at("key").as<float>().data();
  in.value = tensors.at("value").as<float>().data();
  if (auto mask = tensors.find("mask"); mask != tensors.end())
    in.mask = MaskView(mask->second);
  return in;
}

Row rowAt(const Shape &s, int64_t flat) { return {flat / (s.H * s.L), flat / s.L % s.H, flat % s.L}; }

} // namespace attention

namespace {
using namespace attention;

class Attention final : public Shaped {
public:
  std::string_view name() const override { return "scaled_dot_product_attention"; }
  std::string_view summary() const override { return "softmax(scale * Q K^T + mask) V, forward, float"; }
  const std::vector<TensorInfo> &tensors() const override { return tensorInfos; }
  std::vector<Case> cases(const Options &options) const override { return attention::cases(options); }
  Result<Problem> make(const Case &c, uint64_t seed) const override;
  Work work(const Case &c) const override;
  Diagnosis diagnose(const Case &c, const Problem &problem, const std::map<std::string, Tensor> &output,
                     const std::string &tensor, int64_t worst) const override {
    return attention::diagnose(inputsOf(c, problem.inputs), problem, output, tensor, worst);
  }

private:
  const std::vector<TensorInfo> tensorInfos = [] {
    std::vector<TensorInfo> all = inputTensors();
    all.push_back({"output", {"B", "H", "L", "Dv"}, TensorInfo::Role::Output, false,
                   {"o", "out", "output", "outputs", "result", "attn_out"}});
    all.push_back({"lse", {"B", "H", "L"}, TensorInfo::Role::Output, true, {"lse", "softmax_lse", "logsumexp", "log_sum_exp"}});
    return all;
  }();
};

/// A plain evaluation of up to this many operations covers every row; past it, a sample of rows. The largest error of a
/// sample is at most that of all rows, so a large case is sooner held to the full bar, never let off.
constexpr double plainFlops = 5e8;

Result<Problem> Attention::make(const Case &c, uint64_t seed) const {
  Problem problem;
  problem.inputs = makeInputs(c, seed);
  Inputs inputs = inputsOf(c, problem.inputs);
  problem.outputs = reference(inputs);
  // Every nth row, where n shares no factor with usual tile heights.
  int64_t everyRow = int64_t(work(c).flops / plainFlops) + 1;
  everyRow += everyRow > 1 && everyRow % 2 == 0;
  PlainErrors errors = plainErrors(inputs, problem.outputs.at("output"), everyRow);
  problem.plainError = errors.largest;
  problem.plainRms = errors.rms;
  if (!problem.wellConditioned())
    for (Order order : {Order::Backwards, Order::EvenFirst})
      problem.plainError = std::max(problem.plainError, plainErrors(inputs, problem.outputs.at("output"), everyRow, order).largest);
  return problem;
}

Work Attention::work(const Case &c) const {
  Shape s = shapeOf(c);
  double rows = double(s.rows()), width = double(s.D + s.Dv);
  Work work;
  work.flops = 2 * rows * double(s.S) * width;
  work.leastFlops = s.mask == MaskKind::None ? 2 * visibleScores(s) * width : 0;
  work.bytes = 4 * (rows * width + double(s.B * s.Hkv * s.S) * width) + maskBytes(c);
  return work;
}

} // namespace

const Operator &scaledDotProductAttention() {
  static const Attention attention;
  return attention;
}

} // namespace opsight::ops
