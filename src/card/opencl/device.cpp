#include "card/opencl/device.h"
#include <algorithm>

namespace opsight::card {

namespace {
constexpr cl_device_info subgroupSizes = 0x4108; // CL_DEVICE_SUB_GROUP_SIZES_INTEL
constexpr uint32_t cudaMaxThreadsPerBlock = 1024; // what a CUDA launch may ask of any card; kernels count on no more

template <class T> T number(cl_device_id device, cl_device_info key) {
  T value{};
  if (clGetDeviceInfo(device, key, sizeof value, &value, nullptr) != CL_SUCCESS)
    return T{};
  return value;
}

template <class Object, class Key, class Getter> std::string textOf(Getter getter, Object object, Key key) {
  size_t size = 0;
  if (getter(object, key, 0, nullptr, &size) != CL_SUCCESS || size == 0)
    return {};
  std::string text(size, '\0');
  if (getter(object, key, size, text.data(), nullptr) != CL_SUCCESS)
    return {};
  text.resize(text.find('\0') == text.npos ? size : text.find('\0'));
  return text;
}

std::vector<uint32_t> subgroupWidths(cl_device_id device) {
  size_t size = 0;
  if (clGetDeviceInfo(device, subgroupSizes, 0, nullptr, &size) != CL_SUCCESS || size == 0)
    return {};
  std::vector<size_t> sizes(size / sizeof(size_t));
  if (clGetDeviceInfo(device, subgroupSizes, sizes.size() * sizeof(size_t), sizes.data(), nullptr) != CL_SUCCESS)
    return {};
  return {sizes.begin(), sizes.end()};
}
} // namespace

Result<OpenClDevice> findOpenClDevice() {
  cl_uint count = 0;
  OpenClDevice found;
  cl_int status = clGetPlatformIDs(1, &found.platform, &count);
  if (status != CL_SUCCESS || count == 0)
    return noVerdict("the OpenCL loader finds no driver (" + nameOf(status) + ")");
  status = clGetDeviceIDs(found.platform, CL_DEVICE_TYPE_ALL, 1, &found.device, &count);
  if (status != CL_SUCCESS || count == 0)
    return noVerdict("the OpenCL driver has no device (" + nameOf(status) + ")");
  return found;
}

bool isProcessor(const OpenClDevice &found) {
  return (number<cl_device_type>(found.device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
}

DeviceInfo describeDevice(const OpenClDevice &found) {
  cl_device_id device = found.device;
  DeviceInfo info;
  info.device = textOf(clGetDeviceInfo, device, CL_DEVICE_NAME);
  info.driver = textOf(clGetPlatformInfo, found.platform, CL_PLATFORM_NAME) + " " +
                textOf(clGetDeviceInfo, device, CL_DRIVER_VERSION);
  std::string extensions = textOf(clGetDeviceInfo, device, CL_DEVICE_EXTENSIONS);
  auto has = [&](const char *name) { return extensions.find(name) != extensions.npos; };
  info.takesIl = textOf(clGetDeviceInfo, device, CL_DEVICE_IL_VERSION).find("SPIR-V") != std::string::npos;
  info.hasDouble = number<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  info.hasHalf = has("cl_khr_fp16");
  info.hasInt64Atomics = has("cl_khr_int64_base_atomics") && has("cl_khr_int64_extended_atomics");
  info.subgroupWidths = subgroupWidths(device);
  info.sharedBytes = number<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  info.globalBytes = number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.maxAllocation = number<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info.computeUnits = number<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  info.maxThreadsPerBlock =
      static_cast<uint32_t>(std::min<size_t>(cudaMaxThreadsPerBlock, number<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE)));
  size_t sizes[3] = {};
  clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, nullptr);
  info.maxBlock = {std::min<uint64_t>(sizes[0], 1024), std::min<uint64_t>(sizes[1], 1024), std::min<uint64_t>(sizes[2], 64)};
  info.maxGrid = {(1ull << 31) - 1, 65535, 65535};
  return info;
}

} // namespace opsight::card
