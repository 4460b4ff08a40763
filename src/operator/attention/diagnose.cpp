// Explains a wrong output: each known way to go wrong is computed in double precision for the row that failed, and the
// one that comes near what the kernel wrote is named, with how near it comes.
#include "operator/attention/attention.h"
#include "operator/attention/faults.h"
#include "operator/likeness.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace opsight::ops::attention {
namespace {

/// The row of the output tensor that holds the worst element, as the kernel wrote it and as it should be.
struct FailedRow {
  int64_t flat = 0;
  Row at{};
  std::vector<double> got, want;
};

bool finite(double x) { return std::isfinite(x); }

FailedRow failedRow(const Inputs &in, const Problem &problem, const Tensor &output, const std::string &tensor,
                    int64_t worst) {
  int64_t width = tensor == "lse" ? 1 : in.shape.Dv;
  FailedRow row{.flat = worst / width, .at = rowAt(in.shape, worst / width), .got = {}, .want = {}};
  for (int64_t d = 0; d < width; ++d) {
    row.got.push_back(double(output.as<float>()[row.flat * width + d]));
    row.want.push_back(problem.outputs.at(tensor)[row.flat * width + d]);
  }
  return row;
}

std::string place(const Shape &s, const Row &row) {
  return fmt::format("row {} of head {}, batch {}", row.i, row.h, row.b);
}

/// How many keys must be masked in front of a row for it to be not finite, if that and only that tells such rows from
/// the others; else 0.
int64_t maskedBeginning(const Inputs &in, const Tensor &output) {
  if (!in.mask.tensor || in.shape.rows() == 0)
    return 0;
  int64_t fewestBad = in.shape.S + 1, mostGood = 0, width = output.count() / in.shape.rows();
  for (int64_t flat = 0; flat < in.shape.rows(); ++flat) {
    Row at = rowAt(in.shape, flat);
    int64_t first = 0, seen = in.shape.visibleKeys(at.i);
    while (first < seen && in.mask.at(at.b, at.h, at.i, first) == -INFINITY)
      ++first;
    if (first == seen)
      continue; // sees nothing: another matter
    auto row = output.as<float>().subspan(size_t(flat * width), size_t(width));
    bool bad = std::ranges::any_of(row, [](float x) { return !std::isfinite(x); });
    if (bad)
      fewestBad = std::min(fewestBad, first);
    else
      mostGood = std::max(mostGood, first);
  }
  return fewestBad <= in.shape.S && fewestBad > mostGood ? fewestBad : 0;
}

/// A row beside this one whose maximum is so far off that exponentials taken against it overflow, or are all 0.
std::optional<Diagnosis> neighboursMaximum(const Inputs &in, const FailedRow &row, double own) {
  for (int64_t by : {-1, 1}) {
    Row other = row.at;
    if ((other.i += by) < 0 || other.i >= in.shape.L)
      continue;
    RowFacts facts = factsOf(in, other);
    if (facts.visible > 0 && std::abs(facts.largest - own) > 88)
      return Diagnosis{"maximum", fmt::format("the largest score of {} is {:.1f} and that of {}, beside it, {:.1f}: the rows are "
                                              "right only when each takes off its own maximum",
                                              place(in.shape, row.at), own, place(in.shape, other), facts.largest)};
  }
  return std::nullopt;
}

/// What the row says when it is not finite.
Diagnosis notFinite(const Inputs &in, const FailedRow &row, const Tensor &output) {
  RowFacts facts = factsOf(in, row.at);
  if (facts.visible == 0)
    return {"normalise", fmt::format("{} sees no key, so its sum is 0 and the output must be 0; the kernel divided by that sum",
                                     place(in.shape, row.at))};
  if (facts.largest > 88)
    return {"exponentials",
            fmt::format("scores of {} reach {:.1f}; exp overflows in float past 88.7, so the row's maximum was not taken off",
                        place(in.shape, row.at), facts.largest)};
  if (facts.largest < -87)
    return {"maximum", fmt::format("all scores of {} lie below {:.1f}; without the row's own maximum every exponential is 0 "
                                   "and the sum with them",
                                   place(in.shape, row.at), facts.largest)};
  if (auto found = neighboursMaximum(in, row, facts.largest))
    return *found;
  if (int64_t masked = maskedBeginning(in, output); masked > 0)
    return {"maximum", fmt::format("rows whose first {} key(s) are masked are NaN, and no others: while no key was visible yet the "
                                   "maximum is minus infinity, and the difference of two such is NaN",
                                   masked)};
  return {"accumulate", fmt::format("{} is not finite although its scores lie between {:.2f} and {:.2f}; something read was "
                                    "never written, or lies past the end of a tensor",
                                    place(in.shape, row.at), facts.smallest, facts.largest)};
}

/// The same values, elsewhere: another row's answer.
std::optional<Diagnosis> shifted(const Inputs &in, const Problem &problem, const FailedRow &row) {
  const auto &all = problem.outputs.at("output");
  int64_t width = in.shape.Dv, rows = in.shape.rows();
  for (int64_t other = 0; other < rows; ++other) {
    if (other == row.flat)
      continue;
    std::vector<double> want(all.begin() + other * width, all.begin() + (other + 1) * width);
    if (distance(row.got, want) > 1e-5 || distance(row.want, want) < 1e-4)
      continue;
    Row at = rowAt(in.shape, other);
    return Diagnosis{"indexing", fmt::format("{} holds the right answer of {}", place(in.shape, row.at), place(in.shape, at))};
  }
  return std::nullopt;
}

/// Right up to a factor that all elements share.
std::optional<Diagnosis> factor(const Inputs &in, const FailedRow &row) {
  std::optional<double> ratio = commonFactor(row.got, row.want);
  if (!ratio)
    return std::nullopt;
  RowFacts facts = factsOf(in, row.at);
  if (std::abs(*ratio / facts.sum - 1) < nearEnough)
    return Diagnosis{"normalise", fmt::format("every element is {:.6g} times too large, and that is the row's sum of exponentials: "
                                              "the division by it is missing",
                                              *ratio)};
  if (std::abs(*ratio) < 1e-12)
    return Diagnosis{"accumulate", "the row is zero although it sees keys"};
  return Diagnosis{"sum", fmt::format("every element is {:.6g} times what it should be: the weights are right among themselves, the "
                                      "sum that divides them is not ({:.6g} is right)",
                                      *ratio, facts.sum)};
}

std::optional<Diagnosis> knownFault(const Inputs &in, const FailedRow &row, bool isLse) {
  std::vector<Likeness> likenesses;
  for (const Fault &fault : knownFaults(in, row.at)) {
    FaultyRow wrong = faultyRow(in, row.at, fault);
    likenesses.push_back({fault.phase, fault.what, isLse ? std::vector{wrong.lse} : std::move(wrong.output)});
  }
  return nearest(std::move(likenesses), row.got, row.want, 1, place(in.shape, row.at));
}

/// The ways in which only the log-sum-exp is wrong.
std::optional<Diagnosis> lseFault(const Inputs &in, const FailedRow &row) {
  RowFacts facts = factsOf(in, row.at);
  double got = row.got.front(), want = row.want.front();
  struct Known {
    double value;
    const char *phase, *what;
  };
  const Known known[] = {
      {want / std::log(2.0), "sum", "it is in base 2: log2(e) times what it should be"},
      {std::log(facts.sum), "maximum", "it is the logarithm of the sum alone; the row's maximum was not added back"},
      {facts.sum, "sum", "it is the sum, without the logarithm"},
      {facts.largest, "sum", "it is the row's maximum, without the logarithm of the sum"},
      {std::exp(want), "sum", "it is the sum of exponentials itself, not its logarithm"},
      {-want, "sum", "its sign is turned around"},
      {facts.largest - std::log(facts.sum), "sum", "the logarithm of the sum is taken off the maximum, not added"},
      {want / in.shape.scale, "scores", "it is that of scores before the scale"},
  };
  for (const Known &k : known)
    if (std::abs(got - k.value) * muchNearer < std::abs(got - want) && std::abs(got - k.value) < nearEnough * std::max(1.0, std::abs(k.value)))
      return Diagnosis{k.phase, fmt::format("the log-sum-exp of {} is {:.6g} and should be {:.6g}: {}", place(in.shape, row.at),
                                            got, want, k.what)};
  return std::nullopt;
}

} // namespace

Diagnosis diagnose(const Inputs &in, const Problem &problem, const std::map<std::string, Tensor> &output,
                   const std::string &tensor, int64_t worst) {
  FailedRow row = failedRow(in, problem, output.at(tensor), tensor, worst);
  bool isLse = tensor == "lse";
  if (!std::ranges::all_of(row.got, finite) && std::ranges::all_of(row.want, finite))
    return notFinite(in, row, output.at(tensor));
  RowFacts facts = factsOf(in, row.at);
  if (!isLse && facts.visible > 0 && std::ranges::all_of(row.got, [](double x) { return x == 0; })) {
    if (auto found = neighboursMaximum(in, row, facts.largest))
      return *found;
    return {"accumulate", fmt::format("{} is zero although it sees {} keys", place(in.shape, row.at), facts.visible)};
  }
  if (auto found = knownFault(in, row, isLse))
    return *found;
  if (facts.visible == 0)
    return {"mask", fmt::format("{} sees no key and must be 0 (its log-sum-exp minus infinity), but was given values",
                                place(in.shape, row.at))};
  if (isLse)
    if (auto found = lseFault(in, row))
      return *found;
  if (!isLse) {
    if (auto found = factor(in, row))
      return *found;
    if (auto found = shiftedColumns(row.got, row.want))
      return *found;
    if (auto found = shifted(in, problem, row))
      return *found;
  }
  if (auto found = fewerBits(problem, output.at(tensor), tensor, "scores"))
    return *found;
  return {"unknown", fmt::format("no known fault comes near what was written in {}; it sees {} keys with scores between {:.2f} and "
                                 "{:.2f}, and {} of {} elements of the row are wrong",
                                 place(in.shape, row.at), facts.visible, facts.smallest, facts.largest,
                                 std::ranges::count_if(row.got, [&, d = size_t(0)](double x) mutable {
                                   double want = row.want[d++];
                                   return std::abs(x - want) > 1e-5 * std::max(1.0, std::abs(want));
                                 }),
                                 row.got.size())};
}

} // namespace opsight::ops::attention
