// Medians and their intervals from few, skewed measurements.
#pragma once
#include <span>

namespace opsight::judge {

struct Interval {
  double median = 0, low = 0, high = 0;
};

/// The median with a 95 % interval from order statistics (ranks of the binomial distribution): it assumes nothing of
/// the distribution, and with fewer than six values it is the whole range, which covers less.
Interval medianInterval(std::span<const double> values);

/// The fewest values for which medianInterval covers 95 %.
inline constexpr int fewestForInterval = 6;

} // namespace opsight::judge
