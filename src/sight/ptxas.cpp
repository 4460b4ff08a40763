#include "sight/ptxas.h"
#include "sight/command.h"
#include "base/file.h"
#include "base/text.h"
#include "card/worker_process.h"
#include <charconv>
#include <cstdlib>

namespace opsight::sight {

namespace {
namespace fs = std::filesystem;

bool isProgram(const fs::path &path) {
  std::error_code ignored;
  const fs::perms any = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  const fs::file_status status = fs::status(path, ignored);
  return fs::is_regular_file(status) && (status.permissions() & any) != fs::perms::none;
}

/// The number before `word` in `line`: "24 bytes stack frame".
uint64_t numberBefore(std::string_view line, std::string_view word) {
  const size_t at = line.find(word);
  if (at == line.npos)
    return 0;
  size_t end = at;
  while (end > 0 && line[end - 1] == ' ')
    --end;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
    --begin;
  uint64_t value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

std::string between(std::string_view line, std::string_view before, char after) {
  const size_t at = line.find(before);
  if (at == line.npos)
    return {};
  const size_t begin = at + before.size(), end = line.find(after, begin);
  return std::string(line.substr(begin, end == line.npos ? end : end - begin));
}

/// The first line that tells what went wrong.
std::string complaintOf(const std::string &output) {
  std::vector<std::string> lines = split(output, '\n');
  for (const std::string &line : lines)
    if (line.find("error") != line.npos || line.find("fatal") != line.npos)
      return std::string(trim(line)).substr(0, 300);
  return lines.empty() ? "no words" : std::string(trim(lines.front())).substr(0, 300);
}

/// A unit of our own asks for the instance of a template; else the source stands alone.
Status writeUnit(const fs::path &unit, const PtxasRequest &request) {
  std::error_code ignored;
  std::string text = "#include \"" + fs::absolute(request.source, ignored).string() + "\"\n";
  if (request.kernel.find('<') != std::string::npos)
    text += "static auto *opsight_requested_kernel = &" + request.kernel + ";\n";
  return writeFile(unit, text);
}

} // namespace

std::optional<fs::path> findNvcc() {
  std::vector<fs::path> places;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *root = std::getenv(variable))
      places.push_back(fs::path(root) / "bin");
  if (const char *path = std::getenv("PATH"))
    for (const std::string &folder : split(path, ':'))
      places.push_back(folder);
  places.push_back("/usr/local/cuda/bin");
  for (const fs::path &place : places)
    if (isProgram(place / "nvcc"))
      return place / "nvcc";
  return std::nullopt;
}

std::optional<Registers> readPtxas(const std::string &text, const std::string &symbol) {
  std::map<std::string, Registers> functions;
  std::string current;
  for (const std::string &line : split(text, '\n')) {
    if (std::string name = between(line, "Compiling entry function '", '\''); !name.empty())
      current = name;
    else if (std::string of = between(line, "Function properties for ", ' '); !of.empty())
      current = std::string(trim(of));
    else if (line.find("bytes stack frame") != line.npos)
      functions[current].stackBytes = numberBefore(line, "bytes stack frame"),
      functions[current].spillStores = numberBefore(line, "bytes spill stores"),
      functions[current].spillLoads = numberBefore(line, "bytes spill loads");
    else if (std::string count = between(line, "Used ", ' '); !count.empty() && line.find("registers") != line.npos)
      functions[current].registers = uint32_t(numberBefore(line, "registers"));
  }
  if (auto found = functions.find(symbol); found != functions.end())
    return found->second;
  if (functions.size() == 1)
    return functions.begin()->second;
  return std::nullopt;
}

Result<Registers> askPtxas(const PtxasRequest &request) {
  std::optional<fs::path> nvcc = findNvcc();
  if (!nvcc)
    return noVerdict("no CUDA toolkit here");
  Result<std::unique_ptr<card::TemporaryFolder>> folder = card::TemporaryFolder::create();
  if (!folder)
    return std::unexpected(folder.error());
  const fs::path unit = (*folder)->path() / "unit.cu";
  if (Status written = writeUnit(unit, request); !written)
    return std::unexpected(written.error());
  std::vector<std::string> words = {nvcc->string(),
                                    "-cubin",
                                    "-arch=" + request.architecture,
                                    "-std=c++17",
                                    "-Xptxas",
                                    "-v",
                                    "-o",
                                    ((*folder)->path() / "unit.cubin").string()};
  for (const auto &[name, value] : request.defines)
    words.push_back("-D" + name + "=" + value);
  words.push_back(unit.string());
  Result<Ran> ran = runCommand(words, (*folder)->path(), request.timeout);
  if (!ran)
    return std::unexpected(ran.error());
  if (!ran->inTime)
    return noVerdict("nvcc was still compiling after " + std::to_string(request.timeout.count()) + " s");
  if (ran->status != 0)
    return noVerdict("nvcc refuses it: " + complaintOf(ran->output));
  std::optional<Registers> found = readPtxas(ran->output, request.symbol);
  if (!found)
    return noVerdict("nvcc compiled no kernel of that name");
  return *found;
}

} // namespace opsight::sight
