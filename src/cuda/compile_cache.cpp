// See compile_cache.h.
#include "cuda/compile_cache.h"
#include "base/cache.h"
#include "base/file.h"
#include "base/sha256.h"
#include "cuda/invocation.h"
#include <sstream>

namespace opsight::cuda {

std::string moduleKey(const CompileRequest &request) {
  auto source = sourceOf(request);
  auto arguments = clangArguments(request);
  if (!source || !arguments || programStamp().empty())
    return {};
  std::error_code failed;
  std::string key = "module\n" + programStamp() + "\n" + std::filesystem::current_path(failed).string() + "\n" +
                    request.kernel + "\n" + std::to_string(request.optimization) + "\n" + sha256(*source);
  for (const std::string &argument : *arguments)
    key += "\n" + argument;
  return failed ? std::string() : key;
}

/// The files' hashes, a line each.
static std::string stateOf(const std::vector<std::string> &files) {
  std::string state;
  for (const std::string &file : files) {
    auto bytes = readFile(file);
    state += (bytes ? sha256(*bytes) : "none") + "\n";
  }
  return state;
}

std::optional<std::string> keptModule(const std::string &key) {
  if (key.empty())
    return std::nullopt;
  auto list = fromCache(key);
  if (!list)
    return std::nullopt;
  std::vector<std::string> files;
  std::istringstream lines(*list);
  for (std::string file; std::getline(lines, file);)
    files.push_back(file);
  return fromCache(key + "\n" + stateOf(files));
}

void keepModule(const std::string &key, const std::vector<std::string> &files, const std::string &packed) {
  if (key.empty())
    return;
  std::string list;
  for (const std::string &file : files)
    list += file + "\n";
  toCache(key, list);
  toCache(key + "\n" + stateOf(files), packed);
}

} // namespace opsight::cuda
