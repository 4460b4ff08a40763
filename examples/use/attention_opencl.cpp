// Runs a port's kernel.spv from a plain OpenCL program: no code of Opsight's, only what artifact/manifest.json says.
//
//   attention_opencl ARTIFACT/kernel.spv ENTRY      on the first device whose platform takes SPIR-V
//
// It launches flash_simt<64, 64, 4>, the kernel of `opsight port examples/sdpa/port.toml --card opencl:intel`: 256 threads a
// block, one block a tile of 64 queries. Exit code 77: no platform here takes SPIR-V.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int D = 64, queryTile = 64, keyTile = 64, threads = 256;

void check(cl_int status, const char *what) {
  if (status == CL_SUCCESS)
    return;
  std::fprintf(stderr, "%s: OpenCL error %d\n", what, status);
  std::exit(1);
}

std::string text(cl_device_id device, cl_device_info what) {
  size_t size = 0;
  if (clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS)
    return {};
  std::string value(size, '\0');
  clGetDeviceInfo(device, what, size, value.data(), nullptr);
  return value.c_str();
}

/// The first device that takes SPIR-V, or none.
cl_device_id findDevice() {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS)
    return nullptr;
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  for (cl_platform_id platform : platforms) {
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS &&
        text(device, CL_DEVICE_IL_VERSION).find("SPIR-V") != std::string::npos)
      return device;
  }
  return nullptr;
}

cl_program programOf(cl_context context, cl_device_id device, const char *file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> code{std::istreambuf_iterator<char>(in), {}};
  cl_int status = CL_SUCCESS;
  cl_program program = clCreateProgramWithIL(context, code.data(), code.size(), &status);
  check(status, "clCreateProgramWithIL");
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  return program;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: attention_opencl ARTIFACT/kernel.spv ENTRY\n");
    return 2;
  }
  cl_device_id device = findDevice();
  if (!device) {
    std::printf("no OpenCL platform here takes SPIR-V\n");
    return 77;
  }
  cl_int status = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, nullptr, &status);
  check(status, "clCreateCommandQueueWithProperties");
  cl_kernel kernel = clCreateKernel(programOf(context, device, argv[1]), argv[2], &status);
  check(status, "clCreateKernel");

  // Every query sees keys that all score the same, so the right output is the mean of the values: easy to check by eye.
  const cl_int B = 1, H = 2, L = 100, S = 130, causal = 0;
  const cl_float scale = 1 / std::sqrt(float(D));
  std::vector<float> query(size_t(H) * L * D, 0.5f), key(size_t(H) * S * D, 0.25f), value(key.size()), output(query.size());
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::ranges::generate(value, [&] { return normal(random); });
  auto buffer = [&](std::vector<float> &from) {
    cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, from.size() * sizeof(float), from.data(), &status);
    check(status, "clCreateBuffer");
    return made;
  };
  std::vector<float> lse(size_t(H) * L);
  cl_mem buffers[] = {buffer(query), buffer(key), buffer(value), buffer(output), buffer(lse)};
  cl_uint at = 0;
  for (cl_mem &each : buffers)
    check(clSetKernelArg(kernel, at++, sizeof each, &each), "clSetKernelArg");
  for (const cl_int number : {B, H, /*Hkv=*/H, L, S})
    check(clSetKernelArg(kernel, at++, sizeof number, &number), "clSetKernelArg");
  check(clSetKernelArg(kernel, at++, sizeof scale, &scale), "clSetKernelArg");
  check(clSetKernelArg(kernel, at++, sizeof causal, &causal), "clSetKernelArg");
  // The manifest's "shared": (D * 64 + 64 * max(max(D, ceil_div(Dv, 8) * 8), 24)) * 4
  check(clSetKernelArg(kernel, at++, (D * queryTile + keyTile * D) * sizeof(float), nullptr), "clSetKernelArg of shared memory");

  const size_t local = threads, global = local * size_t((L + queryTile - 1) / queryTile) * H * B;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr), "clEnqueueNDRangeKernel");
  check(clEnqueueReadBuffer(queue, buffers[3], CL_TRUE, 0, output.size() * sizeof(float), output.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  double worst = 0;
  for (int h = 0; h < H; ++h)
    for (int d = 0; d < D; ++d) {
      double mean = 0;
      for (int j = 0; j < S; ++j)
        mean += value[(size_t(h) * S + j) * D + d] / double(S);
      for (int i = 0; i < L; ++i) {
        const double error = std::abs(output[(size_t(h) * L + i) * D + d] - mean);
        worst = error <= worst ? worst : error;
      }
    }
  std::printf("%s: largest error %.2g against double precision\n", text(device, CL_DEVICE_NAME).c_str(), worst);
  return worst < 2e-6 ? 0 : 1;
}
