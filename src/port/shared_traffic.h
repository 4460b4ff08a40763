// How a candidate's data pass through shared memory, as a watched run of it shows (WatchCheck::traffic): evidence for
// hints that ask for more than the IR tells.
#pragma once
#include "sight/accesses.h"

namespace opsight::port {

struct SharedTraffic {
  std::string caseName;
  std::vector<sight::SiteAccesses> shared; // taken and ideal: wavefronts, with 32 banks of 4 bytes
  std::vector<sight::SiteAccesses> global; // sectors of 32 bytes
};

} // namespace opsight::port
