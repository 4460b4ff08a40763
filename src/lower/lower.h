// Module to artifact: one folder a card's IR. A target is a list of passes and tables; see spirv/ and native/.
#pragma once
#include "base/error.h"
#include "card/artifact.h"
#include "cuda/module.h"
#include <set>

namespace opsight::lower {

/// How native code lets itself be watched; Artifact::watch says what its numbers stand for.
enum class Watched : uint8_t {
  No,
  Checked,  // checks each access itself, against shadow memory, and says whether anything may be wrong (card/shadow.h)
  Published // says every access and barrier to observers (card/watch.h)
};

/// What the lowering may rely on; comes from the device and the launch.
struct Target {
  card::Dim3 block{};                    // the block that will be launched
  std::set<uint32_t> subgroupWidths;     // of the device; empty: none
  bool hasDouble = true, hasHalf = false;
  std::string processor = "native";      // native code: the -march; "x86-64-v3" forces AVX2
  unsigned lanes = 0;                    // native code: threads that one vector holds; 0: chosen by warp_width
  Watched watched = Watched::No;         // native code
};

/// SPIR-V for the OpenCL environment, validated. Unsupported with name and line for what cannot be translated.
Result<card::Artifact> toSpirv(const cuda::Module &module, const Target &target);

/// A shared library for the host processor, for blocks of `target.block` threads: of one, whose vectors are its own, or of
/// many, which the warp machine (warp/) makes the lanes of vectors. Unsupported with name and line for what it cannot run.
Result<card::Artifact> toNative(const cuda::Module &module, const Target &target);

/// A function that cuda::compileHostFunction() compiled, for the embedded card: it is called once, in a launch of one block
/// of one thread.
Result<card::Artifact> toHost(const cuda::Module &module);

/// Floats in one vector register of `processor`: what the macro LANES of kernels/ should be, 16 with AVX-512, else 8.
Result<unsigned> nativeLanes(const std::string &processor = "native");

/// A C header for a native artifact's shared library: the launch structure, the entry, and a function that fills one in.
std::string cHeader(const card::Artifact &artifact);

} // namespace opsight::lower
