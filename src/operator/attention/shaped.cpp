#include "operator/attention/shaped.h"
#include "base/text.h"
#include "operator/attention/masks.h"
#include <algorithm>
#include <cmath>
#include <numbers>

namespace opsight::ops::attention {
namespace {

const std::vector<SymbolRow> symbolTable{
    {"B", "batch", "1"},
    {"H", "query heads", "1"},
    {"Hkv", "key and value heads; H is a multiple of it", "H"},
    {"L", "queries", ""},
    {"S", "keys", "L"},
    {"D", "head dimension of query and key", "64"},
    {"Dv", "head dimension of value", "D"},
};

const std::vector<std::string> symbolNames{"B", "H", "Hkv", "L", "S", "D", "Dv"};
const std::vector<ScalarInfo> scalarInfos{
    {"B", {"b", "bs", "batch", "batches", "batch_size", "num_batches", "n_batch", "nbatch"}},
    {"H", {"h", "nh", "heads", "num_heads", "n_heads", "n_head", "nheads", "hq", "h_q", "q_heads", "num_q_heads"}},
    {"Hkv", {"hkv", "h_kv", "hk", "kv_heads", "num_kv_heads", "n_kv_heads", "nkvheads", "num_key_value_heads"}},
    {"L",
     {"l", "lq", "l_q", "len_q", "q_len", "query_len", "seq_len_q", "seqlen_q", "seq_q", "nq", "n_q", "tq",
      "num_queries"}},
    {"S",
     {"s", "sk", "lk", "l_k", "len_k", "k_len", "kv_len", "key_len", "seq_len_k", "seqlen_k", "seq_len_kv", "seqlen_kv",
      "seq_k", "nk", "n_k", "tk", "num_keys"}},
    {"D", {"d", "dk", "d_k", "dim", "hd", "head_dim", "headdim", "head_size", "d_head", "dhead", "dim_head"}},
    {"Dv", {"dv", "d_v", "v_dim", "value_dim", "head_dim_v", "headdim_v", "v_head_dim"}},
    {"scale",
     {"scale", "softmax_scale", "sm_scale", "scaling", "qk_scale", "scale_factor", "inv_sqrt_d"},
     ScalarInfo::Kind::Real},
    {"scale_log2",
     {"scale_log2", "softmax_scale_log2", "scale_log2e"},
     ScalarInfo::Kind::Real,
     "scale",
     std::numbers::log2e},
    {"causal", {"causal", "is_causal", "use_causal"}, ScalarInfo::Kind::Whole},
    {"mask_stride_b", {"mask_stride_b", "mask_batch_stride"}},
    {"mask_stride_h", {"mask_stride_h", "mask_head_stride"}},
    {"mask_stride_l", {"mask_stride_l", "mask_row_stride"}},
};
const std::vector<SharedSize> lengths{{{"n", "t", "seq", "seq_len", "seqlen", "seq_length", "len", "sequence_length",
                                        "length", "context", "ctx", "n_ctx", "tokens"},
                                       "L",
                                       "S",
                                       "the number of queries or of keys",
                                       "is one length for queries and keys"}};
const std::vector<OptionInfo> optionInfos{
    {"causal",
     {"none", "top-left", "bottom-right"},
     "which keys a query sees: all; those up to its own number; those up to its own place counted from the end"},
    {"mask", {"none", "bool", "additive"}, "bool: true keeps a key; additive: a float added to the scaled score"},
};

} // namespace

const std::vector<std::string> &Shaped::symbols() const { return symbolNames; }
const std::vector<ScalarInfo> &Shaped::scalars() const { return scalarInfos; }
const std::vector<OptionInfo> &Shaped::options() const { return optionInfos; }
const std::vector<SharedSize> &Shaped::sharedSizes() const { return lengths; }

std::string Shaped::symbolHelp(const std::string &symbol) const {
  for (const SymbolRow &row : symbolTable)
    if (row.name == symbol)
      return row.help;
  return {};
}

std::vector<TensorInfo> inputTensors() {
  return {
      {"query", {"B", "H", "L", "D"}, TensorInfo::Role::Input, false, {"q", "query", "queries"}},
      {"key", {"B", "Hkv", "S", "D"}, TensorInfo::Role::Input, false, {"k", "key", "keys"}},
      {"value", {"B", "Hkv", "S", "Dv"}, TensorInfo::Role::Input, false, {"v", "val", "value", "values"}},
      {"mask",
       {"B", "H", "L", "S"},
       TensorInfo::Role::Input,
       true,
       {"mask", "attn_mask", "attention_mask", "bias", "attn_bias"},
       ElementType::Float32,
       TensorInfo::When{"mask", {"bool", "additive"}}},
  };
}

double visibleScores(const Shape &s) {
  double visible = 0;
  for (int64_t i = 0; i < s.L; ++i)
    visible += double(s.visibleKeys(i));
  return double(s.B * s.H) * visible;
}

double maskBytes(const Case &c) {
  Shape s = shapeOf(c);
  if (s.mask == MaskKind::None)
    return 0;
  double elements = 1;
  for (int64_t extent : maskShape(c))
    elements *= double(extent);
  return elements * (s.mask == MaskKind::Bool ? 1 : 4);
}

std::optional<double> Shaped::scalarOf(const Case &c, const std::string &name) const {
  if (name == "scale")
    return shapeOf(c).scale;
  if (name == "causal")
    return double(shapeOf(c).causal);
  return std::nullopt;
}

ElementType Shaped::elementOf(const TensorInfo &tensor, const Options &options) const {
  auto mask = options.find("mask");
  bool isBool = tensor.name == "mask" && mask != options.end() && mask->second == "bool";
  return isBool ? ElementType::UInt8 : tensor.element;
}

std::vector<Requirement> Shaped::impliedBy(const std::set<std::string> &heard) const {
  struct Pair {
    const char *unheard, *twin, *why;
  };
  const Pair pairs[] = {
      {"S", "L", "the kernel never hears of S, so it has as many keys as queries"},
      {"L", "S", "the kernel never hears of L, so it has as many queries as keys"},
      {"Hkv", "H", "the kernel never hears of Hkv, so its heads are not grouped"},
      {"Dv", "D", "the kernel never hears of Dv, so its value is as wide as its query"},
  };
  std::vector<Requirement> requirements;
  for (const Pair &pair : pairs)
    if (!heard.contains(pair.unheard) && heard.contains(pair.twin))
      requirements.push_back({pair.unheard, pair.twin, pair.why});
  // A kernel whose launch and parameters name neither D nor Dv has them built in; that is for its [limits] to say.
  if (!heard.contains("Dv") && !heard.contains("D"))
    requirements.push_back({"Dv", "D", pairs[3].why});
  return requirements;
}

Status Shaped::completeSymbols(Case &c) const {
  for (const auto &[name, value] : c.symbols) {
    if (std::ranges::find(symbols(), name) == symbols().end())
      return userError(unknownName("symbol", name, symbols()));
    if (value < 0)
      return userError("case '" + c.name + "': " + name + " = " + std::to_string(value) + " is negative");
  }
  for (const SymbolRow &row : symbolTable) {
    if (c.symbols.contains(row.name))
      continue;
    if (row.otherwise.empty())
      return userError("case '" + c.name + "' does not say " + row.name + ", " + row.help,
                       "write for example B=1,H=8,L=1024,D=64");
    auto value = evaluate(row.otherwise, c.symbols);
    if (!value)
      return std::unexpected(value.error());
    c.symbols[row.name] = *value;
  }
  for (const char *name : {"H", "Hkv", "D", "Dv"})
    if (c.symbols[name] == 0)
      return userError("case '" + c.name + "': " + name + " must be at least 1", "B, L and S may be 0");
  if (c.symbols["H"] % c.symbols["Hkv"])
    return userError("case '" + c.name + "': H = " + std::to_string(c.symbols["H"]) +
                         " is no multiple of Hkv = " + std::to_string(c.symbols["Hkv"]),
                     "each key-value head serves H / Hkv query heads");
  return {};
}

Result<Case> Shaped::completeCase(Case c, uint64_t maxBytes) const {
  if (auto status = completeSymbols(c); !status)
    return std::unexpected(status.error());
  auto options = completeOptions(c.options);
  if (!options)
    return std::unexpected(options.error());
  c.options = *options;
  if (!knownDistribution(c.distribution))
    return userError(unknownName("distribution", c.distribution, userDistributions()));
  if (auto scale = c.scalars.find("scale"); scale != c.scalars.end() && !std::isfinite(scale->second))
    return userError("case '" + c.name + "': the scale is not finite");
  // Doubles of the reference beside the floats, all tensors, without overflow: sizes may be absurd.
  double bytes = 0;
  for (const TensorInfo &tensor : tensors()) {
    double count = tensor.name == "mask" && c.options["mask"] == "none" ? 0 : 1;
    for (const std::string &symbol : tensor.shape)
      count *= double(c.symbols[symbol]);
    bytes += count * (tensor.role == TensorInfo::Role::Output ? 12 : 4);
  }
  if (bytes > double(maxBytes))
    return userError("case '" + c.name + "' needs " + mebibytes(bytes) + " MiB of memory; the limit is " +
                         std::to_string(maxBytes >> 20) + " MiB",
                     "choose smaller sizes");
  if (c.name.empty())
    c.name = "B=" + std::to_string(c.symbols["B"]) + " H=" + std::to_string(c.symbols["H"]) +
             " L=" + std::to_string(c.symbols["L"]) + " S=" + std::to_string(c.symbols["S"]) +
             " D=" + std::to_string(c.symbols["D"]) + (c.distribution == "normal" ? "" : " " + c.distribution);
  return c;
}

Case Shaped::speedCase(const Options &options) const {
  Case c;
  c.name = "B=1 H=8 L=S=1024 D=64";
  c.symbols = {{"B", 1}, {"H", 8}, {"Hkv", 8}, {"L", 1024}, {"S", 1024}, {"D", 64}, {"Dv", 64}};
  c.options = options;
  return c;
}

Presented Shaped::present(const Case &c, const Problem &problem, const std::vector<std::string> &heard) const {
  Presented seen{problem.inputs, c.symbols};
  auto found = seen.inputs.find("mask");
  if (found == seen.inputs.end())
    return seen;
  const char *strides[] = {"mask_stride_b", "mask_stride_h", "mask_stride_l"};
  std::vector<int64_t> full{c.symbols.at("B"), c.symbols.at("H"), c.symbols.at("L"), c.symbols.at("S")};
  std::vector<int64_t> shape = full;
  for (size_t dim = 0; dim < 3; ++dim)
    if (std::ranges::find(heard, strides[dim]) != heard.end())
      shape[dim] = found->second.shape[dim];
  found->second = broadcastMask(found->second, shape);
  MaskView view(found->second);
  seen.symbols["mask_stride_b"] = view.strideB;
  seen.symbols["mask_stride_h"] = view.strideH;
  seen.symbols["mask_stride_l"] = view.strideL;
  return seen;
}

} // namespace opsight::ops::attention
