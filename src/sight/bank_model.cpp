#include "sight/bank_model.h"
#include <algorithm>
#include <bit>
#include <vector>

namespace opsight::sight {

namespace {

constexpr uint32_t warpThreads = 32;

/// Most words of one bank among `words`, which may repeat unless each counts.
uint32_t busiestBank(std::vector<uint64_t> &words, const BankGeometry &geometry, bool exclusive) {
  std::ranges::sort(words);
  if (!exclusive)
    words.erase(std::unique(words.begin(), words.end()), words.end());
  std::vector<uint32_t> inBank(geometry.banks, 0);
  uint32_t most = 0;
  for (uint64_t word : words)
    most = std::max(most, ++inBank[word % geometry.banks]);
  return most;
}

} // namespace

Wavefronts wavefrontsOf(const std::array<uint64_t, 32> &addresses, uint32_t mask, uint32_t bytes,
                        const BankGeometry &geometry, bool exclusive) {
  const uint32_t together = std::clamp(geometry.rowBytes() / std::max(bytes, geometry.width), 1u, warpThreads);
  Wavefronts result;
  std::vector<uint64_t> words;
  for (uint32_t first = 0; first < warpThreads; first += together) {
    words.clear();
    for (uint32_t thread = first; thread < std::min(first + together, warpThreads); ++thread)
      if (mask >> thread & 1)
        for (uint64_t word = addresses[thread] / geometry.width;
             word <= (addresses[thread] + bytes - 1) / geometry.width; ++word)
          words.push_back(word);
    if (words.empty())
      continue;
    result.taken += busiestBank(words, geometry, exclusive);
    ++result.ideal;
  }
  return result;
}

} // namespace opsight::sight
