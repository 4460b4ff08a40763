#include "operator/likeness.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace opsight::ops {

double distance(const std::vector<double> &a, const std::vector<double> &b, double magnitude) {
  double largest = 0;
  for (size_t d = 0; d < a.size(); ++d) {
    if (std::isnan(a[d]) && std::isnan(b[d]))
      continue;
    if (!std::isfinite(a[d]) || !std::isfinite(b[d])) {
      if (a[d] == b[d])
        continue;
      return INFINITY;
    }
    largest = std::max(largest, std::abs(a[d] - b[d]) / std::max(magnitude, std::abs(b[d])));
  }
  return largest;
}

std::optional<Diagnosis> nearest(std::vector<Likeness> likenesses, const std::vector<double> &got,
                                 const std::vector<double> &want, double magnitude, const std::string &where) {
  double right = distance(got, want, magnitude), best = INFINITY;
  const Likeness *named = nullptr;
  for (const Likeness &likeness : likenesses)
    if (double off = distance(got, likeness.value, magnitude); off < best)
      best = off, named = &likeness;
  if (!named || !(best * muchNearer < right) || best > nearEnough)
    return std::nullopt;
  return Diagnosis{named->phase, fmt::format("{}: computed so in double precision, {} comes within {:.1g} of what was written; "
                                             "the right answer is {:.1g} away",
                                             named->what, where, best, right)};
}

std::optional<Diagnosis> shiftedColumns(const std::vector<double> &got, const std::vector<double> &want, double magnitude) {
  for (int64_t by = 1; by < std::min<int64_t>(8, int64_t(got.size()) / 2); ++by)
    for (int64_t sign : {1, -1}) {
      int64_t hits = 0, tried = 0;
      for (int64_t d = 0; d < int64_t(got.size()); ++d)
        if (int64_t from = d + sign * by; from >= 0 && from < int64_t(got.size())) {
          ++tried;
          hits += std::abs(got[d] - want[from]) <= 1e-5 * std::max(magnitude, std::abs(want[from]));
        }
      if (tried >= 4 && hits == tried)
        return Diagnosis{"indexing", fmt::format("columns are shifted by {}: element d holds what belongs in element d{:+}",
                                                 by, sign * by)};
    }
  return std::nullopt;
}

std::optional<double> commonFactor(const std::vector<double> &got, const std::vector<double> &want, double magnitude) {
  double gotWant = 0, wantWant = 0;
  for (size_t d = 0; d < got.size(); ++d)
    gotWant += got[d] * want[d], wantWant += want[d] * want[d];
  if (wantWant == 0 || got.size() < 2)
    return std::nullopt;
  double ratio = gotWant / wantWant;
  std::vector<double> scaled = want;
  for (double &x : scaled)
    x *= ratio;
  if (!(distance(got, scaled, magnitude) * muchNearer < distance(got, want, magnitude)))
    return std::nullopt;
  return ratio;
}

std::optional<Diagnosis> fewerBits(const Problem &problem, const Tensor &output, const std::string &tensor,
                                   const std::string &phase) {
  const auto &want = problem.outputs.at(tensor);
  auto magnitudes = problem.magnitudes.find(tensor);
  auto got = output.as<float>();
  double squares = 0, largest = 0;
  size_t wrong = 0;
  for (size_t n = 0; n < want.size(); ++n) {
    double magnitude = magnitudes == problem.magnitudes.end() ? 1 : magnitudes->second[n / (want.size() / magnitudes->second.size())];
    double error = std::abs(double(got[n]) - want[n]) / std::max(magnitude, std::abs(want[n]));
    if (!std::isfinite(error))
      return std::nullopt;
    squares += error * error;
    largest = std::max(largest, error);
    wrong += error > 2e-6;
  }
  double rms = std::sqrt(squares / double(std::max<size_t>(1, want.size())));
  constexpr size_t tooFew = 16; // to speak of errors everywhere
  if (want.size() < tooFew || rms > 0x1p-6 || largest > 64 * rms || 4 * wrong < want.size())
    return std::nullopt;
  double plain = problem.plainRms > 0 ? problem.plainRms : 6e-8;
  return Diagnosis{phase, fmt::format("small errors everywhere (root mean square {:.1g}, {:.0f} times those of plain float): the "
                                      "products keep about {:.0f} bits of mantissa where float has 24",
                                      rms, rms / plain, std::clamp(24 - std::log2(rms / plain), 1.0, 24.0))};
}

} // namespace opsight::ops
