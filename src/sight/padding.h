// Whether longer rows would keep an array's accesses out of each other's banks: tried on the addresses that were seen,
// not foretold from a stride.
#pragma once
#include "sight/accesses.h"
#include "sight/bank_model.h"

namespace opsight::sight {

struct Padding {
  uint32_t elements = 0;        // to add to each row
  uint64_t rowElements = 0;     // as it is
  double before = 0, after = 0; // wavefronts of all accesses to the array, over the launch
  uint64_t moreBytes = 0;       // of shared memory; 0: the array's size is not known
};

/// The least padding, up to a vector's width, with the fewest wavefronts over all of `sites` that access `object`; none
/// if none takes away at least a tenth of the excess. `rowBytes` is the declared length of a row; where it is 0 a row
/// is taken to be what usually lies between neighbouring threads of the worst site.
std::optional<Padding> bestPadding(std::span<const SiteAccesses> sites, int32_t object,
                                   const card::WatchedObject &array, uint64_t rowBytes,
                                   const BankGeometry &geometry = {});

} // namespace opsight::sight
