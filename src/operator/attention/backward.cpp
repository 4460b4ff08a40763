// What scaled_dot_product_attention_backward is: the gradients of query, key and value from that of the output, as a trainer
// asks for them, with what the forward left (its output and log-sum-exp).
#include "operator/attention/gradients.h"
#include "operator/attention/shaped.h"
#include "operator/likeness.h"
#include <cmath>
#include <fmt/format.h>

namespace opsight::ops {
namespace {
using namespace attention;

/// Cases of more are the forward's to try: five products in double precision take long.
constexpr double mostFlops = 2e9;
/// Past this, plain float in one order must do.
constexpr double otherOrdersFlops = 5e8;
/// The first is the one that every kernel writes.
constexpr const char *tensorNames[] = {"grad_query", "grad_key", "grad_value"};

struct Table {
  BackwardFault fault;
  const char *phase, *what;
};
constexpr Table faults[] = {
    {BackwardFault::NoDelta, "delta", "the row's sum of P · dP is not taken off the gradients of its scores"},
    {BackwardFault::NoScale, "scale", "the gradients of the scores are not scaled"},
    {BackwardFault::NoCausal, "mask", "keys behind the diagonal take part"},
    {BackwardFault::FirstHeadOnly, "heads", "of the query heads that share a key-value head only the first one counts"},
    {BackwardFault::LastHeadOnly, "heads", "of the query heads that share a key-value head only the last one counts"},
    {BackwardFault::NoWeights, "weights", "the gradients of the scores are not weighed by the softmax"},
    {BackwardFault::LastTileLeftOut, "indexing", "keys behind the last multiple of 64 are left out"},
};

class AttentionBackward final : public Shaped {
public:
  std::string_view name() const override { return "scaled_dot_product_attention_backward"; }
  std::string_view summary() const override {
    return "gradients of softmax(scale * Q K^T + mask) V, from grad_output, output and lse, float";
  }
  const std::vector<TensorInfo> &tensors() const override { return tensorInfos; }
  std::vector<Case> cases(const Options &options) const override;
  Result<Problem> make(const Case &c, uint64_t seed) const override;
  /// Five products.
  Work work(const Case &c) const override {
    Shape s = shapeOf(c);
    double rows = double(s.rows()), keys = double(s.B * s.Hkv * s.S), each = 2 * (3 * double(s.D) + 2 * double(s.Dv));
    return {rows * double(s.S) * each, s.mask == MaskKind::None ? visibleScores(s) * each : 0,
            4 * (rows * (2 * double(s.D) + 2 * double(s.Dv) + 1) + 2 * keys * double(s.D + s.Dv)) + maskBytes(c)};
  }
  Diagnosis diagnose(const Case &c, const Problem &problem, const std::map<std::string, Tensor> &output,
                     const std::string &tensor, int64_t worst) const override;

private:
  const std::vector<TensorInfo> tensorInfos = [] {
    using Role = TensorInfo::Role;
    std::vector<TensorInfo> all = inputTensors();
    all.push_back({"grad_output",
                   {"B", "H", "L", "Dv"},
                   Role::Input,
                   false,
                   {"do", "dout", "grad_output", "grad_out", "d_o", "d_out", "doutput"}});
    all.push_back({"output", {"B", "H", "L", "Dv"}, Role::Input, true, {"o", "out", "output", "outputs", "attn_out"}});
    all.push_back({"lse", {"B", "H", "L"}, Role::Input, true, {"lse", "softmax_lse", "logsumexp", "log_sum_exp"}});
    all.push_back(
        {"grad_query", {"B", "H", "L", "D"}, Role::Output, false, {"dq", "grad_query", "grad_q", "d_q", "dquery"}});
    all.push_back(
        {"grad_key", {"B", "Hkv", "S", "D"}, Role::Output, false, {"dk", "grad_key", "grad_k", "d_k", "dkey"}});
    all.push_back(
        {"grad_value", {"B", "Hkv", "S", "Dv"}, Role::Output, false, {"dv", "grad_value", "grad_v", "d_v", "dvalue"}});
    return all;
  }();
};

std::vector<Case> AttentionBackward::cases(const Options &options) const {
  std::vector<Case> all = attention::cases(options);
  std::erase_if(all, [&](const Case &c) { return work(c).flops > mostFlops; });
  return all;
}

Tensor gradOutput(const Shape &shape, uint64_t seed) {
  Random random(seed ^ 0x6772616469656e74);
  return normalTensor({shape.B, shape.H, shape.L, shape.Dv}, random);
}

Tensor rounded(const std::vector<double> &values, std::vector<int64_t> shape) {
  Tensor tensor = floatsOf(std::move(shape));
  std::ranges::copy(values, tensor.as<float>().begin());
  return tensor;
}

Result<Problem> AttentionBackward::make(const Case &c, uint64_t seed) const {
  const Shape s = shapeOf(c);
  Problem problem;
  problem.inputs = makeInputs(c, seed);
  problem.inputs["grad_output"] = gradOutput(s, seed);
  const auto forward = reference(inputsOf(c, problem.inputs));
  problem.inputs["output"] = rounded(forward.at("output"), {s.B, s.H, s.L, s.Dv});
  problem.inputs["lse"] = rounded(forward.at("lse"), {s.B, s.H, s.L});
  const BackwardInputs in = backwardInputsOf(c, problem.inputs);
  Gradients<double> right = gradients(in);
  for (const char *tensor : tensorNames)
    problem.magnitudes[tensor] = right.sizeOf(tensor);
  for (Order order : allOrders) {
    const Gradients<float> plain = plainGradients(in, order);
    for (const char *tensor : tensorNames) {
      const PlainErrors errors = ops::plainErrors(plain.of(tensor), right.of(tensor), right.sizeOf(tensor));
      problem.plainError = std::max(problem.plainError, errors.largest);
      if (order == Order::Forwards && tensor == tensorNames[0])
        problem.plainRms = errors.rms;
    }
    if (problem.wellConditioned() || work(c).flops > otherOrdersFlops)
      break;
  }
  problem.outputs = {{"grad_query", std::move(right.query)},
                     {"grad_key", std::move(right.key)},
                     {"grad_value", std::move(right.value)}};
  return problem;
}

Diagnosis AttentionBackward::diagnose(const Case &c, const Problem &problem,
                                      const std::map<std::string, Tensor> &output, const std::string &tensor,
                                      int64_t worst) const {
  const int64_t width = output.at(tensor).shape.back(), r = worst / width;
  auto rowOf = [&](const auto &values) {
    return std::vector<double>(values.begin() + r * width, values.begin() + (r + 1) * width);
  };
  const std::vector<double> got = rowOf(output.at(tensor).as<float>()), want = rowOf(problem.outputs.at(tensor));
  const std::string where = fmt::format("row {} of {}", r, tensor);
  std::vector<Likeness> likenesses;
  const BackwardInputs in = backwardInputsOf(c, problem.inputs);
  for (const Table &row : faults)
    likenesses.push_back({row.phase, row.what, rowOf(gradients(in, row.fault).of(tensor))});
  const double magnitude = problem.magnitudes.at(tensor)[size_t(r)];
  if (auto found = nearest(std::move(likenesses), got, want, magnitude, where))
    return *found;
  if (auto found = shiftedColumns(got, want, magnitude))
    return *found;
  if (auto factor = commonFactor(got, want, magnitude))
    return {"scale", fmt::format("every element of {} is {:.6g} times what it should be", where, *factor)};
  if (auto found = fewerBits(problem, output.at(tensor), tensor, tensor == "grad_value" ? "weights" : "scores"))
    return *found;
  return {"unknown", "no known fault comes near what was written in " + where};
}

} // namespace

const Operator &scaledDotProductAttentionBackward() {
  static const AttentionBackward backward;
  return backward;
}

} // namespace opsight::ops
