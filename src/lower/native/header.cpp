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
  if (shared)
    declared.insert(declared.end(), {"uint64_t shared_bytes", "void *shared"});
  std::string head = fmt::format(R"(/* {0}: compiled by Opsight. Link with lib{1}.so. */
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
}};
#endif

/* Runs blocks [begin, end) of the grid, numbered x fastest, on the calling thread. Threads may run ranges of one launch
   side by side; each needs dynamic shared memory of its own, aligned to 64, where the kernel uses any. */
void {1}(const struct opsight_launch *launch, uint64_t begin, uint64_t end, void *shared);
)",
                                 manifest.kernel, manifest.entry);
  card::Dim3 block = manifest.requiredBlock.value_or(card::Dim3{});
  declared.insert(declared.begin(), {"const uint32_t grid[3]", "uint64_t begin", "uint64_t end"});
  return head + fmt::format(R"(
static inline void {0}_run({1}) {{
  const void *arguments[] = {{{2}}};
  struct opsight_launch launch = {{{{grid[0], grid[1], grid[2]}}, {{{5}, {6}, {7}}}, arguments, {3}, 0}};
  {0}(&launch, begin, end, {4});
}}

#ifdef __cplusplus
}}
#endif
#endif
)",
                            manifest.entry, join(declared, ",\n    "), addresses.empty() ? "0" : join(addresses, ", "),
                            shared ? "shared_bytes" : "0", shared ? "shared" : "0", block.x, block.y, block.z);
}

} // namespace opsight::lower
