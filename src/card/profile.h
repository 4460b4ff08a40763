// A card's profile: what the accelerator has, each figure with the public source it came from. One TOML file a card
// in cards/.
#pragma once
#include "base/error.h"
#include <optional>
#include <string>
#include <vector>

namespace opsight::card {

struct Figure {
  std::string key;    // "shared_bytes_per_block"
  double value = 0;
  std::string unit;   // "bytes"
  std::string source; // the public source, or "measured here"
};

enum class Mapping { Simt, Simd }; // how a tile lives on this card; see docs/kernels.md

struct Profile {
  std::string name;        // "cpu", "opencl:pocl"
  std::string description; // one line
  std::string ir;          // "spirv", "native"; "ptx" and others where there is a profile only
  std::string driver;      // how the worker reaches it: "cpu", "opencl"; empty: a profile only, nothing runs
  std::string icd;         // OpenCL: the stem of the driver's .icd file, "pocl"
  std::string processor;   // native code: the -march it is held to; empty: the host's own
  uint32_t vectorFloats = 0; // that a register of `processor` holds, for the peak; 0: the host's widest
  Mapping mapping = Mapping::Simt;
  uint32_t warpWidth = 32;
  std::vector<Figure> figures;
  std::vector<std::string> cannot; // what it cannot do, one sentence each

  std::optional<double> figure(std::string_view key) const;
  bool canRun() const { return !driver.empty(); }
};

/// Every profile in cards/, by name. A broken file is an error that names its line.
Result<std::vector<Profile>> allProfiles();
/// The profile of `name`; a user error that names the nearest known card.
Result<Profile> findProfile(const std::string &name);

} // namespace opsight::card
