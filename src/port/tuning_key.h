// Everything that a search of the tuner depends on, as one key of its record.
#pragma once
#include "card/profile.h"
#include "card/session.h"
#include "port/request.h"

namespace opsight::port {

/// Equal for requests that ask the same of the same card with the same kernels: operator, options, the class of the shapes
/// that are timed, hints, mapping, reference, the source and its port file, the kernel library, this build of Opsight.
std::string tuningKey(const Request &request, std::span<const ops::Case> speedCases, const card::Profile &profile,
                      const card::DeviceInfo &device);

/// The class of a size in `symbol`: itself up to 256, then the next power of two. Shapes of one class are tuned once.
int64_t shapeClass(int64_t size);

} // namespace opsight::port
