// Whether a launch fits the card, checked before anything runs: a launch over a limit that "works" leaves its output
// untouched and fools whoever looks at old memory.
#pragma once
#include "card/session.h"

namespace opsight::card {

/// Empty when the launch may go; else the limit that it is over, in words.
std::string overLimit(const Manifest &manifest, const LaunchConfig &config, const DeviceInfo &info);

/// What the program needs that the device lacks; empty when nothing.
std::string missingFeature(const Manifest &manifest, const DeviceInfo &info);

} // namespace opsight::card
