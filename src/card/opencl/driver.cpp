// Any OpenCL driver behind the loader. Buffers are the tool's own pages (CL_MEM_USE_HOST_PTR): on processors kernels
// then run between the guard pages; other devices are kept coherent by mapping and unmapping around each launch.
#include "card/worker/driver.h"
#include "base/text.h"
#include "card/cpu/library.h"
#include "card/opencl/device.h"
#include "card/opencl/spir.h"
#include "card/worker/peak.h"
#include "card/worker/sandbox.h"
#include <chrono>
#include <map>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace opsight::card {

namespace {

struct ClProgram {
  cl_program program = nullptr;
  cl_kernel kernel = nullptr;
  size_t arguments = 0;
  const LibraryFunction *function = nullptr; // Format::Library: then there is no kernel
};

struct ClBuffer {
  cl_mem memory = nullptr; // null for an empty buffer
  uint64_t bytes = 0;
  std::byte *host = nullptr;
};

Result<std::string> readCode(int fd) {
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0)
    return internalError("a program without code");
  std::string code(static_cast<size_t>(info.st_size), '\0');
  if (::pread(fd, code.data(), code.size(), 0) != info.st_size)
    return internalError("the program's code cannot be read");
  return code;
}

class OpenClDriver final : public Driver {
public:
  static Result<std::unique_ptr<Driver>> make() {
    auto driver = std::make_unique<OpenClDriver>();
    if (!confineOpenClDriver())
      driver->unconfined_ = "this machine's kernel takes no system call filter";
    auto device = findOpenClDevice();
    if (!device)
      return std::unexpected(device.error());
    driver->device_ = *device;
    cl_int status = 0;
    driver->context_ = clCreateContext(nullptr, 1, &device->device, nullptr, nullptr, &status);
    if (Status made = check(status, "clCreateContext"); !made)
      return std::unexpected(made.error());
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    driver->queue_ = clCreateCommandQueueWithProperties(driver->context_, device->device, properties, &status);
    if (Status made = check(status, "clCreateCommandQueueWithProperties"); !made)
      return std::unexpected(made.error());
    return driver;
  }

  Result<DeviceInfo> describe() override {
    DeviceInfo info = describeDevice(device_);
    takesIl_ = info.takesIl;
    info.unconfined = unconfined_;
    isProcessor_ = isProcessor(device_);
    if (isProcessor_)
      info.vendorLibrary = libraryVersion();
    return info;
  }

  Status load(uint32_t number, const ProgramSource &source) override {
    if (source.format == Format::Library)
      return loadLibrary(number, source);
    if (source.format != Format::SpirV)
      return unsupported("an OpenCL card runs SPIR-V only");
    auto code = readCode(source.code);
    if (!code)
      return std::unexpected(code.error());
    ClProgram made;
    made.arguments = source.parameters.size();
    if (Status created = takesIl_ ? createFromIl(made, *code) : createFromBitcode(made, *code); !created)
      return created;
    const char *options = takesIl_ ? "" : "-x spir -spir-std=1.2";
    if (cl_int status = clBuildProgram(made.program, 1, &device_.device, options, nullptr, nullptr))
      return unsupported("the driver cannot build the kernel (" + nameOf(status) + "): " + buildLog(made.program));
    cl_int status = 0;
    made.kernel = clCreateKernel(made.program, source.entry.c_str(), &status);
    if (Status created = check(status, "clCreateKernel", ErrorKind::Unsupported); !created)
      return created;
    programs_[number] = made;
    return {};
  }

  Status map(uint32_t number, const Mapped &memory) override {
    ClBuffer buffer{nullptr, memory.bytes, memory.data};
    if (memory.bytes) {
      cl_int status = 0;
      buffer.memory =
          clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, memory.bytes, memory.data, &status);
      if (Status created = check(status, "clCreateBuffer"); !created)
        return created;
      if (Status mapped = toHost(buffer); !mapped)
        return mapped;
    }
    buffers_[number] = buffer;
    return {};
  }

  void unmap(uint32_t number) override {
    if (auto found = buffers_.find(number); found != buffers_.end()) {
      if (found->second.memory)
        clReleaseMemObject(found->second.memory);
      buffers_.erase(found);
    }
  }

  Result<double> launch(const wire::LaunchRequest &request, const std::function<void()> &begins) override {
    auto found = programs_.find(request.program);
    if (found == programs_.end() || found->second.arguments != request.arguments.size())
      return internalError("a launch of an unknown program or with a wrong number of arguments");
    if (found->second.function) {
      begins();
      return runLibrary(*found->second.function, request);
    }
    cl_kernel kernel = found->second.kernel;
    std::vector<ClBuffer> used;
    for (cl_uint i = 0; i < request.arguments.size(); ++i)
      if (Status set = setArgument(kernel, i, request.arguments[i], request.config, used); !set)
        return std::unexpected(set.error());
    for (ClBuffer &buffer : used)
      if (Status moved = toDevice(buffer); !moved)
        return std::unexpected(moved.error());
    auto seconds = enqueue(kernel, request.config, begins);
    for (ClBuffer &buffer : used)
      if (Status moved = toHost(buffer); !moved)
        return std::unexpected(moved.error());
    return seconds;
  }

  Session::Peak measurePeak(uint32_t vectorFloats) override {
    if (!pool_)
      pool_ = std::make_unique<Pool>(1 << 20, [](unsigned) {});
    return measurePeakOn(*pool_, vectorFloats);
  }

private:
  /// The processor's vendor library, for cards that are the host's processor: then the buffers are its own memory.
  Status loadLibrary(uint32_t number, const ProgramSource &source) {
    const LibraryFunction *function = isProcessor_ ? findLibraryFunction(source.entry) : nullptr;
    if (!function)
      return unsupported("this card has no library function '" + source.entry + "'");
    programs_[number] = {nullptr, nullptr, source.parameters.size(), function};
    return {};
  }

  Result<double> runLibrary(const LibraryFunction &function, const wire::LaunchRequest &request) {
    std::vector<void *> pointers(request.arguments.size()); // fixed size: the arguments point into it
    std::vector<const void *> arguments;
    for (size_t i = 0; i < request.arguments.size(); ++i) {
      const wire::WireArgument &argument = request.arguments[i];
      if (argument.kind == wire::WireArgument::Kind::Scalar) {
        arguments.push_back(argument.scalar.data());
        continue;
      }
      auto buffer = buffers_.find(argument.buffer);
      if (buffer == buffers_.end())
        return internalError("a launch with an unknown buffer");
      pointers[i] = buffer->second.host;
      arguments.push_back(&pointers[i]);
    }
    return function.run(arguments);
  }

  Status createFromIl(ClProgram &made, const std::string &code) {
    cl_int status = 0;
    made.program = clCreateProgramWithIL(context_, code.data(), code.size(), &status);
    return check(status, "clCreateProgramWithIL", ErrorKind::Unsupported);
  }

  Status createFromBitcode(ClProgram &made, const std::string &code) {
    auto bitcode = spirvToBitcode(code);
    if (!bitcode)
      return std::unexpected(bitcode.error());
    auto *bytes = reinterpret_cast<const unsigned char *>(bitcode->data());
    size_t size = bitcode->size();
    cl_int status = 0, binaryStatus = 0;
    made.program = clCreateProgramWithBinary(context_, 1, &device_.device, &size, &bytes, &binaryStatus, &status);
    return check(status ? status : binaryStatus, "clCreateProgramWithBinary", ErrorKind::Unsupported);
  }

  std::string buildLog(cl_program program) {
    size_t size = 0;
    clGetProgramBuildInfo(program, device_.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    clGetProgramBuildInfo(program, device_.device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    return std::string(trim(log.c_str()));
  }

  Status setArgument(cl_kernel kernel, cl_uint index, const wire::WireArgument &argument, const LaunchConfig &config,
                     std::vector<ClBuffer> &used) {
    cl_int status = CL_SUCCESS;
    if (argument.kind == wire::WireArgument::Kind::Buffer) {
      auto buffer = buffers_.find(argument.buffer);
      if (buffer == buffers_.end())
        return internalError("a launch with an unknown buffer");
      status = clSetKernelArg(kernel, index, sizeof(cl_mem), buffer->second.memory ? &buffer->second.memory : nullptr);
      bool known = false;
      for (const ClBuffer &other : used)
        known |= other.memory == buffer->second.memory;
      if (!known && buffer->second.memory)
        used.push_back(buffer->second);
    } else if (argument.kind == wire::WireArgument::Kind::Scalar) {
      status = clSetKernelArg(kernel, index, argument.scalar.size(), argument.scalar.data());
    } else {
      // An empty workgroup array is not allowed; sixteen bytes that nobody may use cost nothing.
      status = clSetKernelArg(kernel, index, std::max<uint64_t>(config.dynamicSharedBytes, 16), nullptr);
    }
    if (status == CL_SUCCESS)
      return {};
    return internalError("clSetKernelArg of parameter " + std::to_string(index) + ": " + nameOf(status));
  }

  /// The host may read and write the buffer between these two.
  Status toHost(const ClBuffer &buffer) {
    cl_int status = 0;
    clEnqueueMapBuffer(queue_, buffer.memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, buffer.bytes, 0, nullptr, nullptr,
                       &status);
    return check(status, "clEnqueueMapBuffer");
  }
  Status toDevice(const ClBuffer &buffer) {
    return check(clEnqueueUnmapMemObject(queue_, buffer.memory, buffer.host, 0, nullptr, nullptr),
                 "clEnqueueUnmapMemObject");
  }

  Result<double> enqueue(cl_kernel kernel, const LaunchConfig &config, const std::function<void()> &begins) {
    size_t local[] = {config.block.x, config.block.y, config.block.z};
    size_t global[] = {size_t(config.grid.x) * local[0], size_t(config.grid.y) * local[1], size_t(config.grid.z) * local[2]};
    if (Status done = check(clFinish(queue_), "clFinish"); !done)
      return std::unexpected(done.error());
    cl_event event = nullptr;
    cl_int status = clEnqueueNDRangeKernel(queue_, kernel, 3, nullptr, global, local, 0, nullptr, &event);
    if (Status queued = check(status, "clEnqueueNDRangeKernel", ErrorKind::Unsupported); !queued)
      return std::unexpected(queued.error());
    status = clFlush(queue_);
    if (status == CL_SUCCESS)
      status = waitFor(event, begins);
    auto seconds = status == CL_SUCCESS ? secondsOf(event) : Result<double>(0);
    clReleaseEvent(event);
    if (Status done = check(status, "the kernel's run"); !done)
      return std::unexpected(done.error());
    return seconds;
  }

  /// A driver may compile after the enqueue: the run begins when the event says so.
  cl_int waitFor(cl_event event, const std::function<void()> &begins) {
    while (true) {
      cl_int state = 0;
      if (cl_int status = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr))
        return status;
      if (state <= CL_COMPLETE)
        return state;
      if (state == CL_RUNNING) {
        begins();
        return clWaitForEvents(1, &event);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  Result<double> secondsOf(cl_event event) {
    cl_ulong start = 0, end = 0;
    cl_int status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
    if (status == CL_SUCCESS)
      status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
    if (Status read = check(status, "clGetEventProfilingInfo"); !read)
      return std::unexpected(read.error());
    return end > start ? static_cast<double>(end - start) * 1e-9 : 0.0;
  }

  OpenClDevice device_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  bool takesIl_ = false, isProcessor_ = false;
  std::string unconfined_;
  std::map<uint32_t, ClProgram> programs_;
  std::map<uint32_t, ClBuffer> buffers_;
  std::unique_ptr<Pool> pool_;
};

} // namespace

Result<std::unique_ptr<Driver>> makeOpenClDriver() { return OpenClDriver::make(); }

} // namespace opsight::card
