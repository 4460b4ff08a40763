#include "operator/row_wise.h"
#include <cmath>
#include <fmt/format.h>

namespace opsight::ops {

std::vector<double> rowOf(const Tensor &tensor, int64_t r, int64_t C) {
  auto row = tensor.as<float>().subspan(size_t(r * C), size_t(C));
  return {row.begin(), row.end()};
}

Result<Problem> RowWise::make(const Case &c, uint64_t seed) const {
  Random random(seed);
  Problem problem;
  problem.inputs = fill(c, random);
  problem.outputs = reference(c, problem.inputs);
  problem.magnitudes = magnitudes(c, problem.inputs);
  Values<float> floats = plain(c, problem.inputs);
  bool first = true;
  for (const TensorInfo &info : tensors()) {
    if (!info.isCompared() || !problem.outputs.contains(info.name))
      continue;
    size_t rows = info.shape.front() == rowSymbol() ? size_t(c.symbols.at(rowSymbol())) : 1;
    PlainErrors errors = plainErrors(floats.at(info.name), problem.outputs.at(info.name), problem.magnitudes[info.name], rows,
                                     size_t(plainStep(c)));
    problem.plainError = std::max(problem.plainError, errors.largest);
    if (std::exchange(first, false))
      problem.plainRms = errors.rms;
  }
  std::erase_if(problem.magnitudes, [](const auto &entry) { return entry.second.empty(); });
  return problem;
}

/// Kernels that know a batch and a length hear of two factors of N.
Presented RowWise::present(const Case &c, const Problem &problem, const std::vector<std::string> &heard) const {
  Presented seen{problem.inputs, c.symbols};
  auto [N, C] = extentOf(c);
  auto hears = [&](const char *name) { return std::ranges::find(heard, name) != heard.end(); };
  int64_t length = hears("T") ? N : 1;
  for (int64_t factor = 2; hears("B") && factor * factor <= N; ++factor)
    if (N % factor == 0)
      length = N / factor;
  seen.symbols["T"] = length;
  seen.symbols["B"] = hears("T") && length ? N / length : hears("T") ? 1 : N;
  seen.symbols["row_stride"] = seen.symbols["output_row_stride"] = C;
  return seen;
}

namespace {

/// "row 3", or the tensor where it has no rows.
std::string placeIn(const std::string &tensor, bool hasRows, int64_t r) {
  return hasRows ? fmt::format("row {} of {}", r, tensor) : tensor;
}

/// Another row's answer.
std::optional<Diagnosis> othersRow(const std::vector<double> &all, const std::vector<double> &got, int64_t r,
                                   const std::vector<double> &want, double magnitude) {
  int64_t width = int64_t(got.size()), rows = int64_t(all.size()) / width;
  for (int64_t other = 0; other < rows; ++other) {
    std::vector<double> theirs(all.begin() + other * width, all.begin() + (other + 1) * width);
    if (other == r || distance(got, theirs, magnitude) > 1e-5 || distance(want, theirs, magnitude) < 1e-4)
      continue;
    return Diagnosis{"indexing", fmt::format("row {} holds the right answer of row {}", r, other)};
  }
  return std::nullopt;
}

} // namespace

Diagnosis RowWise::diagnose(const Case &c, const Problem &problem, const Tensors &output, const std::string &tensor,
                            int64_t worst) const {
  const auto &all = problem.outputs.at(tensor);
  auto info = std::ranges::find(tensors(), tensor, &TensorInfo::name);
  bool hasRows = info->shape.front() == rowSymbol();
  int64_t width = hasRows && info->shape.size() == 1 ? 1 : output.at(tensor).shape.back(), r = hasRows ? worst / width : 0;
  std::vector<double> got = rowOf(output.at(tensor), r, width), want(all.begin() + r * width, all.begin() + (r + 1) * width);
  auto magnitudes = problem.magnitudes.find(tensor);
  double magnitude = magnitudes == problem.magnitudes.end() ? 1 : magnitudes->second[size_t(worst) / (all.size() / magnitudes->second.size())];
  std::string place = placeIn(tensor, hasRows, r);

  if (auto found = explain(c, problem.inputs, tensor, r, got, want); found && !std::isfinite(distance(got, want)))
    return *found;
  if (auto found = nearest(likenesses(c, problem.inputs, tensor, r), got, want, magnitude, place))
    return *found;
  if (auto found = explain(c, problem.inputs, tensor, r, got, want))
    return *found;
  if (auto found = shiftedColumns(got, want, magnitude))
    return *found;
  if (hasRows && width > 1)
    if (auto found = othersRow(all, got, r, want, magnitude))
      return *found;
  if (auto ratio = commonFactor(got, want, magnitude))
    return {"scale", fmt::format("every element of {} is {:.6g} times what it should be", place, *ratio)};
  if (auto found = fewerBits(problem, output.at(tensor), tensor, "sum"))
    return *found;
  return {"unknown", fmt::format("no known fault comes near what was written in {}", place)};
}

std::vector<Subset> faultySubsets(int64_t C) {
  std::vector<Subset> all;
  for (int64_t group : groupSizes) {
    bool told = std::ranges::any_of(groupSizes, [&](int64_t other) { return other < group && C % other == C % group; });
    if (group < C && C % group && !told)
      all.push_back({fmt::format("the last {} of {}, a partial group of {}, are left out", C % group, C, group),
                     [end = C / group * group](int64_t j) { return j < end; }});
  }
  for (int64_t threads : blockSizes)
    if (C > 32)
      all.push_back({fmt::format("of a block of {} threads only the first warp's part counts", threads),
                     [threads](int64_t j) { return j % threads < 32; }});
  for (int64_t first : {32, 256, 1024})
    if (C > first)
      all.push_back({fmt::format("only the first {} count", first), [first](int64_t j) { return j < first; }});
  return all;
}

} // namespace opsight::ops
