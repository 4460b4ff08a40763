// What NVIDIA's assembler says of a kernel, where a CUDA toolkit is installed: registers are its choice, and no other
// tool can foretell them. Nothing is run on a device, and nothing is needed but the toolkit.
#pragma once
#include "base/error.h"
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>

namespace opsight::sight {

struct PtxasRequest {
  std::filesystem::path source;
  std::string kernel; // as the user wrote it, "flash<64, 64>"
  std::string symbol; // mangled
  std::map<std::string, std::string> defines;
  std::string architecture; // "sm_80"
  std::chrono::seconds timeout{60};
};

/// Of a thread.
struct Registers {
  uint32_t registers = 0;
  uint64_t stackBytes = 0;                  // local memory: arrays that are indexed, and what did not fit the registers
  uint64_t spillStores = 0, spillLoads = 0; // bytes
};

/// An error of kind NoVerdict whose `what` is the reason, "no CUDA toolkit here", "nvcc refuses it: …".
Result<Registers> askPtxas(const PtxasRequest &request);

/// The compiler driver: below $CUDA_HOME or $CUDA_PATH, in $PATH, or in /usr/local/cuda.
std::optional<std::filesystem::path> findNvcc();

/// Reads `ptxas -v`. The kernel is `symbol`, or the only one there is (names in unnamed namespaces differ between
/// compilers); none where there are several others.
std::optional<Registers> readPtxas(const std::string &text, const std::string &symbol);

} // namespace opsight::sight
