#include "sight/padding.h"
#include <algorithm>

namespace opsight::sight {

namespace {

constexpr uint32_t mostPadding = 8; // elements

/// Wavefronts of `site` over the launch, by its samples, if rows of `row` bytes were `more` bytes longer.
double wavefrontsWith(const SiteAccesses &site, uint64_t offset, uint64_t row, uint64_t more,
                      const BankGeometry &geometry) {
  double taken = 0;
  for (const Sample &passage : site.samples) {
    std::array<uint64_t, 32> moved{};
    for (uint32_t i = 0; i < 32; ++i)
      if (passage.mask >> i & 1)
        moved[i] = passage.addresses[i] + (passage.addresses[i] - offset) / row * more;
    taken +=
        wavefrontsOf(moved, passage.mask, site.site.bytes, geometry, site.site.kind == card::Site::Kind::Atomic).taken;
  }
  return site.samples.empty() ? 0 : taken / double(site.samples.size()) * double(site.requests);
}

uint64_t rowOfWorst(std::span<const SiteAccesses *const> sites) {
  const SiteAccesses *worst =
      *std::ranges::max_element(sites, {}, [](const SiteAccesses *site) { return site->taken - site->ideal; });
  return usualStep(worst->samples);
}

} // namespace

std::optional<Padding> bestPadding(std::span<const SiteAccesses> sites, int32_t object,
                                   const card::WatchedObject &array, uint64_t rowBytes, const BankGeometry &geometry) {
  std::vector<const SiteAccesses *> these;
  for (const SiteAccesses &site : sites)
    if (site.object == object)
      these.push_back(&site);
  if (these.empty())
    return std::nullopt;
  const uint64_t row = rowBytes ? rowBytes : rowOfWorst(these), element = std::max(1u, array.elementBytes);
  const bool isRow = row >= 2 * element && row % element == 0 && (array.bytes == 0 || array.bytes % row == 0);
  if (!isRow)
    return std::nullopt;
  auto total = [&](uint64_t more) {
    double all = 0;
    for (const SiteAccesses *site : these)
      all += wavefrontsWith(*site, array.offset, row, more, geometry);
    return all;
  };
  double ideal = 0;
  for (const SiteAccesses *site : these)
    ideal += double(site->ideal);
  Padding best{0, row / element, total(0), total(0), 0};
  for (uint32_t pad = 1; pad <= mostPadding; ++pad) {
    const bool aligned =
        std::ranges::all_of(these, [&](const SiteAccesses *site) { return pad * element % site->site.alignment == 0; });
    const double after = aligned ? total(pad * element) : best.after;
    if (after < best.after * 0.999)
      best.elements = pad, best.after = after;
  }
  if (best.before - best.after < 0.1 * (best.before - ideal) || best.elements == 0)
    return std::nullopt;
  best.moreBytes = array.bytes / row * best.elements * element;
  return best;
}

} // namespace opsight::sight
