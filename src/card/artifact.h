// What a card is handed: a kernel's code in the card's own IR and the manifest that says how to launch it.
// src/lower makes artifacts; src/card only reads them, so that the worker needs no compiler of ours.
#pragma once
#include "base/error.h"
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace opsight::card {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
  bool operator==(const Dim3 &) const = default;
};

enum class Format {
  SpirV,   // a SPIR-V module for the OpenCL environment
  Native,  // an ELF shared library for the host processor
  Host,    // an ELF shared library with abi.h's entry, called once, for block 0, where it may take memory and start threads
  Library, // no code: the name of a vendor function built into the worker ("onednn/scaled_dot_product_attention")
};

/// One parameter of the artifact's entry, in the entry's order.
struct Parameter {
  enum class Kind {
    Buffer,        // a pointer to memory of the card
    Scalar,        // `bytes` bytes by value (also structs)
    DynamicShared, // a pointer to the launch's dynamic shared memory (SPIR-V: a workgroup pointer)
    Symbol,        // a buffer that holds a __constant__ or __device__ variable; `initial` is its first content
    Message,       // a buffer of ours through which printf and assert speak; see message.h
    Watch,         // a buffer of ours through which code under watch publishes; see watch_ring.h
    Shadow,        // a buffer of ours in which code under checks remembers who touched what; see shadow.h
  };
  std::string name{}; // the CUDA parameter's or variable's name; empty for ours
  Kind kind = Kind::Buffer;
  uint32_t bytes = 0;
  uint32_t alignment = 1;
  std::string initial{}; // Symbol: first content, `bytes` long
  std::string type{};    // as the source writes it, "const float *"; empty for ours
};

struct Manifest {
  std::string kernel;                       // as the user wrote it, "flash<64, 64>"
  std::string entry;                        // symbol to launch in the code
  Format format = Format::SpirV;
  std::vector<Parameter> parameters;
  uint64_t staticSharedBytes = 0;
  uint64_t residentBytes = 0;               // native code that waits for the whole grid: what a block keeps (cpu/abi.h); else 0
  std::optional<Dim3> requiredBlock{};      // the code is right for this block only
  uint32_t maxThreadsPerBlock = 0;          // of __launch_bounds__; 0: not stated
  uint32_t subgroupWidth = 0;               // 0: uses no subgroups
  bool needsDouble = false, needsHalf = false, needsInt64Atomics = false;
  bool usesFloatAtomics = false;            // then two runs may differ in the last bits
  std::vector<std::string> formats{};       // printf formats and assert messages by id; see message.h
  std::vector<std::string> notes{};         // what the translation did, for the report
};

struct Watch; // watch.h

struct Artifact {
  Manifest manifest;
  std::string code;         // SPIR-V words or an ELF image, by manifest.format
  std::string readable{};   // disassembly for people
  std::shared_ptr<const Watch> watch{}; // of code lowered to be watched: what its ring's numbers stand for
};

/// manifest.json of `artifact`, with hashes of the code.
std::string manifestJson(const Artifact &artifact);

} // namespace opsight::card
