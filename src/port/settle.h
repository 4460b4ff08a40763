// From what was written to what holds: the asks are understood, the command line wins over the file, defaults fill the
// rest. Two different demands at one level are an error; one that the command line overrides is said so.
#pragma once
#include "port/request.h"

namespace opsight::port {

/// What the command line says beside the file.
struct Overrides {
  std::string card, mapping;
  std::vector<std::string> asks, hints, cases;
  std::optional<double> maxError, minSpeed;
  std::string reference;
  bool accuracyOnly = false;
  std::optional<uint64_t> seed;
  std::optional<double> timeoutSeconds, tuneSeconds;
  bool retune = false;
};

/// Names that --card and `card` take: every profile, and "opencl" for the first OpenCL card with a device.
Result<std::vector<std::string>> cardNames();

/// Settles `request`; notes on what was overridden are appended to `notes`.
Status settle(Request &request, const Overrides &overrides, std::vector<std::string> &notes);

} // namespace opsight::port
