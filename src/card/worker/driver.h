// What the worker's server asks of a driver: the one interface between the protocol and a kind of device.
#pragma once
#include "base/error.h"
#include "card/session.h"
#include "card/wire.h"
#include <functional>
#include <memory>
#include <span>

namespace opsight::card {

/// A buffer as mapped into the worker.
struct Mapped {
  std::byte *data = nullptr;
  uint64_t bytes = 0;
};

struct ProgramSource {
  Format format{};
  std::string entry;
  uint64_t residentBytes = 0; // Manifest::residentBytes
  std::vector<Parameter::Kind> parameters;
  int code = -1; // descriptor of the code, owned by the server
};

class Driver {
public:
  virtual ~Driver() = default;
  virtual Result<DeviceInfo> describe() = 0;
  /// Builds `source` under the number `program`.
  virtual Status load(uint32_t program, const ProgramSource &source) = 0;
  virtual Status map(uint32_t buffer, const Mapped &memory) = 0;
  virtual void unmap(uint32_t buffer) = 0;
  /// Runs and waits; seconds of the kernel alone. `begins` is called when device code starts to run.
  virtual Result<double> launch(const wire::LaunchRequest &request, const std::function<void()> &begins) = 0;
  /// With registers of `vectorFloats` floats; 0: the widest.
  virtual Session::Peak measurePeak(uint32_t vectorFloats) = 0;
};

using DriverMaker = Result<std::unique_ptr<Driver>> (*)();

/// Each makes its driver and, before any foreign code is loaded, confines the process.
Result<std::unique_ptr<Driver>> makeCpuDriver();
Result<std::unique_ptr<Driver>> makeOpenClDriver();

} // namespace opsight::card
