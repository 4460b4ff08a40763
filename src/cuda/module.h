// A CUDA kernel compiled to LLVM IR for the nvptx64 triple, not yet bound to a card, and the facts seen on the way.
//
// What a lowering finds in the IR (the dialect; include/opsight-cuda makes it so):
//
// Functions. The only definition with external linkage is the kernel (calling convention ptx_kernel). At either level
// of optimisation every device function is inlined into it, except recursive ones and those whose address is taken.
// Every instruction's DILocation says file and line, and through inlinedAt the chain of device functions.
//
// Memory. Address spaces: 0 generic, 1 global (__device__ variables), 3 shared, 4 constant (__constant__), 5 never used
// (allocas are in 0). Pointer parameters of the kernel are `ptr` (0); at the top of the entry block each is cast to
// address space 1 and back, and address spaces are then inferred, so most accesses are in 1, 3 or 4 already; generic
// ones remain for pointers loaded from memory or merged from two spaces. A struct by value is `ptr byval(T)`, read only.
// Static __shared__ is an internal global in 3 with undefined initialiser; `extern __shared__` is an external global
// `[0 x T]` in 3: all such globals are one memory that starts at the same address, 16-byte aligned, behind the static
// ones. String literals and constexpr tables are private constants in 0. __constant__ and __device__ variables are
// `externally_initialized`: the host may change them. llvm.memcpy, memmove, memset and lifetime markers may occur.
//
// Values. i1 i8 i16 i32 i64 (i128 where the source has it), half, float, double, ptr; vectors only where the source has
// them (ext_vector_type, any width) or where a whole small struct is moved. bfloat never occurs: __nv_bfloat16 is 16 bits
// and converts by integer arithmetic. fmul and fadd that may fuse carry `contract`, as nvcc does by default; what came
// from __fmul_rn, __fadd_rn … carries no flag and must not fuse. fdiv and llvm.sqrt are correctly rounded. No denormal
// is flushed.
//
// Thread and block. llvm.nvvm.read.ptx.sreg.{tid,ntid,ctaid,nctaid}.{x,y,z}, .laneid; warpSize is the constant 32.
// Barriers: llvm.nvvm.barrier.cta.sync.aligned.all(0); __syncthreads_count/_and/_or are
// llvm.nvvm.barrier.cta.red.{popc,and,or}.aligned.all(0, i1); __syncwarp is llvm.nvvm.bar.warp.sync(mask).
// Warps: llvm.nvvm.shfl.sync.{idx,up,down,bfly}.i32(mask, value, lane, clamp) alone (floats are bitcast, 64 bits are two
// of them); clamp = ((32 - width) << 8) | (up: 0, others: 31). llvm.nvvm.vote.{ballot,any,all}.sync(mask, i1),
// llvm.nvvm.activemask, llvm.nvvm.match.{any.sync.i32,all.sync.i32p} (64 bits are two of them),
// llvm.nvvm.redux.sync.{add,min,max,umin,umax,and,or,xor}(value, mask).
// Atomics: atomicrmw {add sub and or xor min max umin umax xchg fadd} and cmpxchg, monotonic, and uinc_wrap, udec_wrap,
// seq_cst, on i32, i64, float, double; half and bfloat atomics are cmpxchg loops. From inline PTX they may
// also be acquire, release or acq_rel, and so may loads and stores. Volatile accesses stay volatile.
// Fences (__threadfence…): `fence seq_cst`. clock(), clock64(), globaltimer: llvm.nvvm.read.ptx.sreg.{clock,clock64,
// globaltimer}; __nanosleep vanishes. __trap() is llvm.trap.
//
// Barriers with a count of threads: llvm.nvvm.barrier.cta.sync.aligned.count(0, n). A barrier of the whole grid
// (this_grid().sync()): `void @__opsight_grid_sync()`.
//
// Inline PTX of the instructions in ptx/ has become what it means; any other is refused before it gets here. Two kinds of
// calls of ours come from it alone: a warp's matrices (matrix.h) and addresses of shared memory as numbers
// (ptx/shared_numbers.h).
//
// Mathematics. Whatever LLVM has an intrinsic for is that intrinsic, for float, double (and half where the source says
// so): llvm.{fma sqrt fabs floor ceil trunc rint nearbyint round roundeven maxnum minnum copysign ldexp frexp exp exp2
// exp10 log log2 log10 pow sin cos tan asin acos atan atan2 sinh cosh tanh ctpop ctlz cttz bitreverse bswap abs smin smax
// umin umax fshl fshr canonicalize}; fmod is frem. CUDA's fast forms (__expf, __fdividef, rsqrtf …) are the same, exact
// ones: rsqrtf(x) is 1 / llvm.sqrt(x), a division that is marked arcp. What has no intrinsic is a call to an undefined
// `__nv_NAME` (float: `__nv_NAMEf`), memory(none): erf erfc erfinv erfcinv erfcx cbrt expm1 log1p hypot tgamma
// lgamma sinpi cospi asinh acosh atanh remainder nextafter j0 j1 y0 y1 jn yn normcdf normcdfinv rhypot norm3d norm4d
// cyl_bessel_i0 cyl_bessel_i1, and the directed roundings {f,d}{add,sub,mul,div,sqrt,rcp}_{rz,ru,rd},
// fma(f)_{rz,ru,rd}.
//
// Speaking. `i32 @__opsight_printf(ptr format, ...)` with C's promotions (float to double, short to int); the format is a
// private constant string, else the front end has refused it. `void @__opsight_assert(ptr message, ptr file, i32 line,
// ptr function)`: returns as far as the IR goes; a lowering may end the thread there.
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
  Module() = default;
  Module(Module &&) = default;
  Module &operator=(Module &&other); // the old IR must go before the context that owns its types

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> ir;
  Kernel kernel;
  std::string sourceFile;
  std::vector<std::string> files;  // that the compiler read beside it
  std::string fingerprint;         // tells the content of two compiled modules apart

  /// A copy in a context of its own, for lowerings that change it.
  Module clone() const;
};

} // namespace opsight::cuda
