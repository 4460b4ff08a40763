// std::ranges::contains, which libstdc++ 12 does not have yet.
#pragma once
#include <algorithm>
#include <ranges>

namespace opsight::port {

template <class Range, class Value, class Projection = std::identity>
bool contains(Range &&range, const Value &value, Projection projection = {}) {
  return std::ranges::find(range, value, projection) != std::ranges::end(range);
}

} // namespace opsight::port
