// What attention's forward and backward have in common: symbols, scalars, options, sizes that may be asked for, and how a
// kernel is shown its mask.
#pragma once
#include "operator/attention/attention.h"

namespace opsight::ops::attention {

class Shaped : public Operator {
public:
  const std::vector<std::string> &symbols() const override;
  std::string symbolHelp(const std::string &symbol) const override;
  const std::vector<ScalarInfo> &scalars() const override;
  const std::vector<OptionInfo> &options() const override;
  bool hearsEveryInput(const Case &c) const override { return c.distribution == "normal" && c.symbols.at("S") >= 16; }
  Result<Case> completeCase(Case partial, uint64_t maxBytes) const override;
  Case speedCase(const Options &options) const override;
  /// A mask is dense (B,H,L,S) unless the kernel takes mask_stride_b, mask_stride_h or mask_stride_l: a dimension that it
  /// strides keeps its broadcast shape, stride 0.
  Presented present(const Case &c, const Problem &problem, const std::vector<std::string> &heard) const override;
  std::optional<double> scalarOf(const Case &c, const std::string &name) const override;
  ElementType elementOf(const TensorInfo &tensor, const Options &options) const override;
  const std::vector<SharedSize> &sharedSizes() const override;
  /// Without S the keys are as many as the queries, without Hkv the heads are not grouped, without Dv the value is as wide
  /// as the query.
  std::vector<Requirement> impliedBy(const std::set<std::string> &heard) const override;

private:
  Status completeSymbols(Case &c) const;
};

/// query, key, value and mask: what every kernel of attention reads.
std::vector<TensorInfo> inputTensors();

/// Score elements that are computed, of all heads: those under the diagonal alone under a causal option.
double visibleScores(const Shape &shape);
/// Bytes of the mask as the case broadcasts it.
double maskBytes(const Case &c);

} // namespace opsight::ops::attention
