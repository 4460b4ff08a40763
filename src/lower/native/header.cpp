// The C header that goes with a native artifact: a program links the library, fills in a launch and calls it, without
// anything of ours.
#include "base/text.h"
#include "lower/lower.h"
#include <fmt/format.h>

namespace opsight::lower {

using Kind = card::Parameter::Kind;

static bool isC(const std::string &type) {
  return !type.empty() && type.find_first_of("<>:&") == type.npos && type.find("struct") == type.npos;
}

static std::string plainType(std::string type) {
  for (std::string_view word : {"__restrict__", "__restrict", "restrict"})
    if (size_t at = type.find(word); at != type.npos)
      type.erase(at, word.size());
  while (!type.empty() && type.back() == ' ')
    type.pop_back();
  return type;
}

/// The parameter of the wrapper: by its own C type where it has one, else the address of the value.
static std::string declare(const card::Parameter &parameter) {
  std::string type = plainType(parameter.type);
  bool simple = parameter.kind == Kind::Scalar && (parameter.bytes > 8 || !isC(type)) ? false : isC(type);
  std::string name = parameter.name.empty() ? "message" : parameter.name;
  if (simple)
    return fmt::format("{}{}{}", type, type.ends_with('*') ? "" : " ", name);
  if (parameter.kind == Kind::Scalar)
    return fmt::format("const void *{} /* address of {} bytes */", name, parameter.bytes);
  return fmt::format("void *{} /* {} bytes, aligned to {} */", name, parameter.bytes, parameter.alignment);
}

static std::string addressOf(const card::Parameter &parameter) {
  if (parameter.kind == Kind::DynamicShared)
    return "0";
  std::string name = parameter.name.empty() ? "message" : parameter.name;
  bool byAddress = parameter.kind == Kind::Scalar && (parameter.bytes > 8 || !isC(plainType(parameter.type)));
  return byAddress ? name : "&" + name;
}

/// What every header declares, and what it says of how the entry is called.
static std::string declarations(const card::Manifest &manifest) {
  constexpr const char *ranges = R"(/* Runs blocks [begin, end) of the grid, numbered x fastest, on the calling thread. Threads may run ranges of one launch
   side by side; each needs dynamic shared memory of its own, aligned to 64, where the kernel uses any. */)";
  constexpr const char *together = R"(/* Runs blocks [begin, end) of the grid, numbered x fastest, on the calling thread. The kernel waits for the whole grid:
   `memory` is that of block `begin`, aligned to 128, and each block behind it has its own, launch->resident_stride bytes
   further. Where the calling thread has not the whole grid, threads have to run all ranges of the launch side by side, and
   launch->meet returns once all of them have called it: `state` where all gave the same, else the largest with the highest
   bit set. */)";
  return fmt::format(R"(/* {0}: compiled by Opsight. Link with lib{1}.so. */
#ifndef {1}_h
#define {1}_h
#include <stdbool.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {{
#endif

#ifndef OPSIGHT_LAUNCH
#define OPSIGHT_LAUNCH
struct opsight_launch {{
  uint32_t grid[3];
  uint32_t block[3];
  const void *const *arguments; /* one address a parameter */
  uint64_t dynamic_shared_bytes;
  uint64_t order; /* 0 */
  uint64_t resident_stride; /* this and what follows: of kernels that wait for the whole grid */
  uint64_t (*meet)(void *meeting, uint64_t state); /* 0 where one call has the whole grid */
  void *meeting;
}};
#endif

{2}
void {1}(const struct opsight_launch *launch, uint64_t begin, uint64_t end, void *{3});
)",
                     manifest.kernel, manifest.entry, manifest.residentBytes ? together : ranges,
                     manifest.residentBytes ? "memory" : "shared");
}

/// The function that fills in a launch and calls the entry; `declared` and `addresses` are the kernel's arguments.
static std::string runFunction(const card::Manifest &manifest, std::vector<std::string> declared,
                               const std::vector<std::string> &addresses, bool shared) {
  bool together = manifest.residentBytes != 0;
  card::Dim3 block = manifest.requiredBlock.value_or(card::Dim3{});
  if (together)
    declared.insert(declared.begin(), "const uint32_t grid[3]");
  else
    declared.insert(declared.begin(), {"const uint32_t grid[3]", "uint64_t begin", "uint64_t end"});
  if (shared)
    declared.push_back("uint64_t shared_bytes");
  if (shared || together)
    declared.push_back(together ? "void *memory" : "void *shared");
  std::string bytes = shared ? "shared_bytes" : "0";
  std::string stride = together ? fmt::format("{}_resident({})", manifest.entry, bytes) : "0";
  std::string text;
  if (together)
    text = fmt::format(R"(
/* Bytes of memory that one block keeps while it waits for the others. */
static inline uint64_t {0}_resident(uint64_t shared_bytes) {{ return {1} + (shared_bytes + 127) / 128 * 128; }}

/* Runs the whole grid on the calling thread; `memory` holds {0}_resident() bytes a block, aligned to 128. */)",
                       manifest.entry, manifest.residentBytes);
  return text + fmt::format(R"(
static inline void {0}_run({1}) {{
  const void *arguments[] = {{{2}}};
  struct opsight_launch launch = {{{{grid[0], grid[1], grid[2]}}, {{{3}, {4}, {5}}}, arguments, {6}, 0, {7}, 0, 0}};
  {0}(&launch, {8}, {9});
}}

#ifdef __cplusplus
}}
#endif
#endif
)",
                            manifest.entry, join(declared, ",\n    "), addresses.empty() ? "0" : join(addresses, ", "),
                            block.x, block.y, block.z, bytes, stride,
                            together ? "0, (uint64_t)grid[0] * grid[1] * grid[2]" : "begin, end",
                            together ? "memory" : shared ? "shared" : "0");
}

std::string cHeader(const card::Artifact &artifact) {
  const card::Manifest &manifest = artifact.manifest;
  std::vector<std::string> declared, addresses;
  bool shared = false;
  for (const card::Parameter &parameter : manifest.parameters) {
    if (parameter.kind == Kind::DynamicShared)
      shared = true;
    else
      declared.push_back(declare(parameter));
    addresses.push_back(addressOf(parameter));
  }
  return declarations(manifest) + runFunction(manifest, std::move(declared), addresses, shared);
}

} // namespace opsight::lower
