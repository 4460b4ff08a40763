#include "cuda/missing.h"
#include <cctype>

namespace opsight::cuda {
namespace {
struct Entry {
  std::string_view start; // a whole name, or the beginning of names when it ends in '*'
  std::string_view part;
};

constexpr Entry names[] = {
    {"cub", "the cub library"},
    {"thrust", "the thrust library"},
    {"cutlass", "the CUTLASS library"},
    {"cute", "the CUTLASS library"},
    {"wmma", "warp matrix functions (mma.h)"},
    {"nvcuda", "warp matrix functions (mma.h)"},
    {"curand*", "the cuRAND library"},
    {"cublas*", "the cuBLAS library"},
    {"cudnn*", "the cuDNN library"},
    {"cufft*", "the cuFFT library"},
    {"cusparse*", "the cuSPARSE library"},
    {"cusolver*", "the cuSOLVER library"},
    {"nccl*", "the NCCL library"},
    {"nvshmem*", "the NVSHMEM library"},
    {"texture", "texture references"},
    {"surface", "surface references"},
    {"nvtx*", "the NVTX library"},
    {"nvml*", "the NVML library"},
    {"NCCL*", "the NCCL library"},
    {"CUBLAS*", "the cuBLAS library"},
    {"CUDNN*", "the cuDNN library"},
    {"CUFFT*", "the cuFFT library"},
    {"CUSPARSE*", "the cuSPARSE library"},
    {"CURAND*", "the cuRAND library"},
    {"CUDA_R_*", "the cuBLAS library"},
    {"CUDA_C_*", "the cuBLAS library"},
    {"MPI_*", "the MPI library"},
    {"omp_*", "the OpenMP runtime"},
    {"tex1D*", "texture functions"},
    {"tex2D*", "texture functions"},
    {"tex3D*", "texture functions"},
    {"texCubemap*", "texture functions"},
    {"surf1D*", "surface functions"},
    {"surf2D*", "surface functions"},
    {"surf3D*", "surface functions"},
    {"__nv_fp8*", "8-bit floats (cuda_fp8.h)"},
    {"__nv_fp6*", "6-bit floats (cuda_fp6.h)"},
    {"__nv_fp4*", "4-bit floats (cuda_fp4.h)"},
    {"__nv_cvt_*", "8-bit floats (cuda_fp8.h)"},
    {"__dp4a", "packed dot products"},
    {"__dp2a_lo", "packed dot products"},
    {"__dp2a_hi", "packed dot products"},
    {"__pipeline_*", "asynchronous copies (cuda_pipeline.h)"},
    {"__shfl", "shuffles without a mask, which CUDA 9 removed; use __shfl_sync"},
    {"__shfl_up", "shuffles without a mask, which CUDA 9 removed; use __shfl_up_sync"},
    {"__shfl_down", "shuffles without a mask, which CUDA 9 removed; use __shfl_down_sync"},
    {"__shfl_xor", "shuffles without a mask, which CUDA 9 removed; use __shfl_xor_sync"},
    {"__ballot", "votes without a mask, which CUDA 9 removed; use __ballot_sync"},
    {"__any", "votes without a mask, which CUDA 9 removed; use __any_sync"},
    {"__all", "votes without a mask, which CUDA 9 removed; use __all_sync"},
    {"__nv_atomic_*", "__nv_atomic functions"},
    {"__NV_ATOMIC_*", "__nv_atomic functions"},
    {"CU_*", "the CUDA driver API"},
    {"cooperative_groups", "this part of cooperative groups"},
    {"grid_group", "groups of a whole grid (cooperative_groups.h)"},
    {"this_grid", "groups of a whole grid (cooperative_groups.h)"},
    {"multi_grid_group", "groups of several grids (cooperative_groups.h)"},
    {"cluster_group", "thread block clusters"},
    {"this_cluster", "thread block clusters"},
    {"memcpy_async", "asynchronous copies (cooperative_groups/memcpy_async.h)"},
    {"cuDoubleComplex", "complex numbers (cuComplex.h)"},
    {"cuFloatComplex", "complex numbers (cuComplex.h)"},
    {"cuComplex", "complex numbers (cuComplex.h)"},
    {"cudaTextureDesc", "texture objects"},
    {"cudaResourceDesc", "texture objects"},
    {"cudaChannelFormatDesc", "texture objects"},
    {"cudaCreateTextureObject", "texture objects"},
    {"cudaGraph*", "CUDA graphs"},
    {"cudaIpc*", "memory shared between processes"},
    {"cudaMemPool*", "memory pools"},
    {"cudaLaunchConfig_t", "extended launches"},
    {"cudaLaunchKernelEx*", "extended launches"},
    {"clusterDim", "thread block clusters"},
    {"__cluster_*", "thread block clusters"},
};

constexpr Entry headers[] = {
    {"cub/*", "the cub library"},
    {"thrust/*", "the thrust library"},
    {"cuda/*", "the libcu++ library"},
    {"cutlass/*", "the CUTLASS library"},
    {"cute/*", "the CUTLASS library"},
    {"mma.h", "warp matrix functions"},
    {"crt/*", "internals of the CUDA SDK"},
    {"cublas*", "the cuBLAS library"},
    {"curand*", "the cuRAND library"},
    {"cudnn*", "the cuDNN library"},
    {"cufft*", "the cuFFT library"},
    {"cusparse*", "the cuSPARSE library"},
    {"cusolver*", "the cuSOLVER library"},
    {"nccl*", "the NCCL library"},
    {"nvshmem*", "the NVSHMEM library"},
    {"nvml*", "the NVML library"},
    {"nvrtc*", "the NVRTC library"},
    {"npp*", "the NPP library"},
    {"nvtx3/*", "the NVTX library"},
    {"nvToolsExt*", "the NVTX library"},
    {"cuda_fp8*", "8-bit floats"},
    {"cuda_fp6*", "6-bit floats"},
    {"cuda_fp4*", "4-bit floats"},
    {"cuda_pipeline*", "asynchronous copies"},
    {"cuda_awbarrier*", "asynchronous barriers"},
    {"cuda_texture_types.h", "textures"},
    {"cuda_surface_types.h", "surfaces"},
    {"texture_*", "textures"},
    {"surface_*", "surfaces"},
    {"cudaGL.h", "OpenGL interoperation"},
    {"cuda_gl_interop.h", "OpenGL interoperation"},
    {"cuComplex.h", "complex numbers"},
    {"cooperative_groups/memcpy_async.h", "asynchronous copies"},
    {"helper_cuda.h", "NVIDIA's sample helpers"},
    {"helper_functions.h", "NVIDIA's sample helpers"},
    {"helper_math.h", "NVIDIA's sample helpers"},
    {"mpi.h", "the MPI library"},
    {"omp.h", "the OpenMP runtime"},
    {"ATen/*", "PyTorch"},
    {"torch/*", "PyTorch"},
    {"c10/*", "PyTorch"},
};

/// Whether `name` is in CUDA's own naming: "cudaMemcpyBatch", "cuLaunchKernel".
bool isOfFamily(std::string_view name, std::string_view start) {
  return name.starts_with(start) && name.size() > start.size() &&
         std::isupper(static_cast<unsigned char>(name[start.size()]));
}

template <size_t N> std::optional<std::string_view> find(const Entry (&table)[N], std::string_view name) {
  for (const Entry &entry : table) {
    bool beginning = entry.start.ends_with('*');
    if (beginning ? name.starts_with(entry.start.substr(0, entry.start.size() - 1)) : name == entry.start)
      return entry.part;
  }
  return std::nullopt;
}
} // namespace

std::optional<std::string_view> missingName(std::string_view name) {
  // "nvcuda::wmma::fragment" is known by any of its parts.
  for (size_t end = 0; end != std::string_view::npos;) {
    end = name.find("::");
    std::string_view first = name.substr(0, end);
    if (auto part = find(names, first))
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

std::optional<std::string_view> missingHeader(std::string_view header) { return find(headers, header); }

} // namespace opsight::cuda
