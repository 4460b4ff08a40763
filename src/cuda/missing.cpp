#include "cuda/missing.h"
#include <algorithm>
#include <cctype>

namespace opsight::cuda {
namespace {
/// A part of CUDA, or of what programs use beside it. Patterns are separated by spaces: a whole name, or the beginning of
/// names where it ends in '*'.
struct Entry {
  std::string_view part; // for identifiers; what stands in brackets says nothing new to who asked for a header
  std::string_view names, headers;
};

constexpr Entry parts[] = {
    {"the cub library", "cub", "cub/*"},
    {"the thrust library", "thrust", "thrust/*"},
    {"the CUTLASS library", "cutlass cute", "cutlass/* cute/*"},
    {"the cuRAND library", "curand* CURAND*", "curand*"},
    {"the cuBLAS library", "cublas* CUBLAS* CUDA_R_* CUDA_C_*", "cublas*"},
    {"the cuDNN library", "cudnn* CUDNN*", "cudnn*"},
    {"the cuFFT library", "cufft* CUFFT*", "cufft*"},
    {"the cuSPARSE library", "cusparse* CUSPARSE*", "cusparse*"},
    {"the cuSOLVER library", "cusolver*", "cusolver*"},
    {"the NCCL library", "nccl* NCCL*", "nccl*"},
    {"the NVSHMEM library", "nvshmem*", "nvshmem*"},
    {"texture references", "texture", ""},
    {"surface references", "surface", ""},
    {"the NVTX library", "nvtx*", "nvtx3/* nvToolsExt*"},
    {"the NVML library", "nvml*", "nvml*"},
    {"the MPI library", "MPI_*", "mpi.h"},
    {"the OpenMP runtime", "omp_*", "omp.h"},
    {"texture functions", "tex1D* tex2D* tex3D* texCubemap*", ""},
    {"surface functions", "surf1D* surf2D* surf3D*", ""},
    {"8-bit floats (cuda_fp8.h)", "__nv_fp8* __nv_cvt_*", "cuda_fp8*"},
    {"6-bit floats (cuda_fp6.h)", "__nv_fp6*", "cuda_fp6*"},
    {"4-bit floats (cuda_fp4.h)", "__nv_fp4*", "cuda_fp4*"},
    {"packed dot products", "__dp4a __dp2a_lo __dp2a_hi", ""},
    {"asynchronous copies (cuda_pipeline.h)", "__pipeline_*", "cuda_pipeline*"},
    {"shuffles without a mask, which CUDA 9 removed; use __shfl_sync", "__shfl", ""},
    {"shuffles without a mask, which CUDA 9 removed; use __shfl_up_sync", "__shfl_up", ""},
    {"shuffles without a mask, which CUDA 9 removed; use __shfl_down_sync", "__shfl_down", ""},
    {"shuffles without a mask, which CUDA 9 removed; use __shfl_xor_sync", "__shfl_xor", ""},
    {"votes without a mask, which CUDA 9 removed; use __ballot_sync", "__ballot", ""},
    {"votes without a mask, which CUDA 9 removed; use __any_sync", "__any", ""},
    {"votes without a mask, which CUDA 9 removed; use __all_sync", "__all", ""},
    {"__nv_atomic functions", "__nv_atomic_* __NV_ATOMIC_*", ""},
    {"the CUDA driver API", "CU_*", ""},
    {"this part of cooperative groups", "cooperative_groups", ""},
    {"groups of several grids (cooperative_groups.h)", "multi_grid_group this_multi_grid", ""},
    {"thread block clusters", "cluster_group this_cluster clusterDim __cluster_*", ""},
    {"asynchronous copies (cooperative_groups/memcpy_async.h)", "memcpy_async", "cooperative_groups/memcpy_async.h"},
    {"complex numbers (cuComplex.h)", "cuDoubleComplex cuFloatComplex cuComplex", "cuComplex.h"},
    {"texture objects", "cudaTextureDesc cudaResourceDesc cudaChannelFormatDesc cudaCreateTextureObject", ""},
    {"CUDA graphs", "cudaGraph*", ""},
    {"memory shared between processes", "cudaIpc*", ""},
    {"memory pools", "cudaMemPool*", ""},
    {"extended launches", "cudaLaunchConfig_t cudaLaunchKernelEx*", ""},
    {"the libcu++ library", "", "cuda/*"},
    {"internals of the CUDA SDK", "", "crt/*"},
    {"the NVRTC library", "", "nvrtc*"},
    {"the NPP library", "", "npp*"},
    {"asynchronous barriers", "", "cuda_awbarrier*"},
    {"textures", "", "cuda_texture_types.h texture_*"},
    {"surfaces", "", "cuda_surface_types.h surface_*"},
    {"OpenGL interoperation", "", "cudaGL.h cuda_gl_interop.h"},
    {"NVIDIA's sample helpers", "", "helper_cuda.h helper_functions.h helper_math.h"},
    {"PyTorch", "", "ATen/* torch/* c10/*"},
};

/// Whether `name` is in CUDA's own naming: "cudaMemcpyBatch", "cuLaunchKernel".
bool isOfFamily(std::string_view name, std::string_view start) {
  return name.starts_with(start) && name.size() > start.size() &&
         std::isupper(static_cast<unsigned char>(name[start.size()]));
}

bool matchesAny(std::string_view patterns, std::string_view name) {
  while (!patterns.empty()) {
    std::string_view pattern = patterns.substr(0, patterns.find(' '));
    patterns.remove_prefix(std::min(patterns.size(), pattern.size() + 1));
    if (pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern)
      return true;
  }
  return false;
}

std::optional<std::string_view> find(std::string_view Entry::*patterns, std::string_view name) {
  for (const Entry &entry : parts)
    if (matchesAny(entry.*patterns, name))
      return entry.part;
  return std::nullopt;
}
} // namespace

std::optional<std::string_view> missingName(std::string_view name) {
  // "nvcuda::wmma::fragment" is known by any of its parts.
  for (size_t end = 0; end != std::string_view::npos;) {
    end = name.find("::");
    std::string_view first = name.substr(0, end);
    if (auto part = find(&Entry::names, first))
      return part;
    if (isOfFamily(first, "cuda"))
      return "this part of the CUDA runtime";
    if (isOfFamily(first, "cu"))
      return "the CUDA driver API";
    if (end != std::string_view::npos)
      name.remove_prefix(end + 2);
  }
  return std::nullopt;
}

std::optional<std::string_view> missingHeader(std::string_view header) {
  auto part = find(&Entry::headers, header);
  return part ? std::optional(part->substr(0, part->find(" ("))) : std::nullopt;
}

} // namespace opsight::cuda
