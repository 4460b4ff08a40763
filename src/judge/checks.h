// The list of checks for the verdict: what was made on this card, what it showed, and what this card cannot make.
#pragma once
#include "judge/accuracy.h"

namespace opsight::judge {

std::vector<Check> checksOf(const AccuracyResult &seen, const card::DeviceInfo &device);

} // namespace opsight::judge
