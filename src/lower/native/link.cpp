// Links through Debian's lld as a program: as a library it would bring its own LLVM and exit the process on errors.
#include "base/file.h"
#include "lower/native/emit.h"
#include <filesystem>
#include <fmt/format.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Program.h>
#include <unistd.h>

namespace opsight::lower::native {

namespace {
/// A folder of our own that goes with its contents.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path(error_) / "opsight-link-XXXXXX").string();
    if (!error_ && ::mkdtemp(pattern.data()))
      path_ = pattern;
  }
  ~TemporaryFolder() {
    if (!path_.empty())
      std::filesystem::remove_all(path_, error_);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  explicit operator bool() const { return !path_.empty(); }
  std::string file(const char *name) const { return (path_ / name).string(); }

private:
  std::error_code error_;
  std::filesystem::path path_;
};
} // namespace

static Result<std::string> findLinker() {
  for (const char *name : {"ld.lld-22", "ld.lld"})
    if (auto found = llvm::sys::findProgramByName(name))
      return *found;
  if (auto found = llvm::sys::findProgramByName("ld.lld", {"/usr/lib/llvm-22/bin"}))
    return *found;
  return noVerdict("the linker ld.lld-22 is missing", "install the Debian package lld-22");
}

// An undefined symbol here is a function of CUDA's that neither we nor the C library have.
static Error explain(const std::string &output) {
  llvm::StringRef text = output;
  auto [before, rest] = text.split("undefined symbol: ");
  if (rest.empty())
    return internalError(fmt::format("linking the kernel failed: {}", text.trim().str())).error();
  return unsupported(fmt::format("the function {} on the cpu card", rest.split('\n').first.trim().str())).error();
}

Result<std::string> link(const std::string &object, const std::string &entry, Needs needs) {
  auto linker = findLinker();
  if (!linker)
    return std::unexpected(linker.error());
  TemporaryFolder folder;
  if (!folder)
    return noVerdict("no temporary folder can be made", "set TMPDIR to a folder that can be written");
  std::string input = folder.file("kernel.o"), output = folder.file("kernel.so"), log = folder.file("log");
  if (Status written = writeFile(input, object); !written)
    return std::unexpected(written.error());
  std::string soname = "lib" + entry + ".so";
  llvm::SmallVector<llvm::StringRef> arguments = {
      *linker, "-shared", "-z", "defs", "-z", "now", "-z", "relro", "--as-needed", "--gc-sections", "-soname", soname,
      "-o", output, input, "-L/lib/x86_64-linux-gnu", "-L/lib64", "-L/usr/lib64"};
  if (needs == Needs::CppLibrary)
    arguments.append({"-l:libstdc++.so.6", "-l:libgcc_s.so.1"});
  arguments.append({"-l:libm.so.6", "-l:libc.so.6"});
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(log), llvm::StringRef(log)};
  std::string message;
  int code = llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt, redirects, /*SecondsToWait=*/60,
                                       /*MemoryLimit=*/0, &message);
  if (code != 0) {
    auto said = readFile(log);
    return std::unexpected(explain(message + (said ? *said : "")));
  }
  return readFile(output);
}

} // namespace opsight::lower::native
