// A CUDA kernel compiled to LLVM IR for the nvptx64 triple, not yet bound to a card, and the facts seen on the way.
//
// The IR speaks CUDA: shared memory in address space 3, __constant__ in 4, globals in 1, llvm.nvvm.* intrinsics,
// __nv_* mathematics, and our own calls named __opsight_* where CUDA has no intrinsic (include/opsight-cuda says which).
#pragma once
#include "base/error.h"
#include <cstdint>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <memory>
#include <string>
#include <vector>

namespace opsight::cuda {

struct KernelParameter {
  std::string name;
  std::string type;            // as written, "const float *__restrict__"
  enum class Kind { Pointer, Scalar, Struct } kind = Kind::Scalar;
  std::string element;         // pointee's or scalar's canonical type: "float", "int", "unsigned char", "half", …
  bool isConst = false;        // pointer to const
  uint32_t bytes = 0, alignment = 1;
};

/// One thing in the kernel (or a device function it calls), with its place.
struct Fact {
  enum class Kind { Barrier, WarpOperation, Atomic, Loop, Load, Store, Printf, Assert, SharedArray, Call } kind;
  SourcePlace where;
  std::string what;            // "__syncthreads", "__shfl_xor_sync", "atomicAdd float", "float K[64][65]", …
  std::string space{};         // Load, Store, Atomic: "global", "shared", "local", "constant", "generic"
  uint64_t bytes = 0;          // SharedArray: size; Load, Store: width of one access
  int64_t trips = -1;          // Loop: trip count where constant
  bool unrolled = false;       // Loop: asked by #pragma unroll
};

struct Facts {
  std::vector<Fact> all;
  uint64_t staticSharedBytes = 0;
  bool usesDynamicShared = false;
  uint32_t maxThreadsPerBlock = 0, minBlocksPerSm = 0; // of __launch_bounds__; 0: not stated
  SourcePlace where;           // of the kernel's definition
  size_t count(Fact::Kind kind) const;
};

struct Kernel {
  std::string name;            // as the user wrote it, "flash<64, 64>"
  std::string symbol;          // in the IR
  std::vector<KernelParameter> parameters;
  Facts facts;
};

/// One kernel and all it reaches. Movable; owns its context, so two modules never share types.
struct Module {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> ir;
  Kernel kernel;
  std::string sourceFile;

  /// A copy in a context of its own, for lowerings that change it.
  Module clone() const;
};

} // namespace opsight::cuda
