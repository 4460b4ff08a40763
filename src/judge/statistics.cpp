// P(X(r) <= median <= X(n+1-r)) = 1 - 2 P(Binomial(n, 1/2) < r): the largest r with at least 95 % gives the interval.
#include "judge/statistics.h"
#include <algorithm>
#include <cmath>
#include <vector>

namespace opsight::judge {

Interval medianInterval(std::span<const double> values) {
  if (values.empty())
    return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  size_t n = sorted.size();
  double median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  size_t rank = 1;
  double below = 0, mass = std::exp2(-double(n)); // P(Binomial = k), from k = 0
  for (size_t k = 0; k + 1 < n / 2; ++k) {
    below += mass;
    mass *= double(n - k) / double(k + 1);
    if (2 * (below + mass) > 0.05)
      break;
    rank = k + 2;
  }
  return {median, sorted[rank - 1], sorted[n - rank]};
}

} // namespace opsight::judge
