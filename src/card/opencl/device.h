// The one OpenCL device of this worker and what it says of itself. The loader sees only the wanted driver: two drivers
// in one process may bring two LLVMs that clash.
#pragma once
#include "card/opencl/status.h"
#include "card/session.h"

namespace opsight::card {

struct OpenClDevice {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
};

Result<OpenClDevice> findOpenClDevice();
bool isProcessor(const OpenClDevice &device);
DeviceInfo describeDevice(const OpenClDevice &device);

} // namespace opsight::card
