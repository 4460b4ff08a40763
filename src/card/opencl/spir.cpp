#include "card/opencl/spir.h"
#include "base/file.h"
#include "card/worker/temporary.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <vector>

extern char **environ;

namespace opsight::card {

namespace {
constexpr const char *translator = "llvm-spirv-15"; // PoCL 3.1 of Debian 12 is built on LLVM 15

/// Runs `words`, both outputs into the file `log`; the exit status or an error.
Result<int> runLogged(std::vector<std::string> words, const std::string &log) {
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = -1;
  int failed = ::posix_spawnp(&pid, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed)
    return noVerdict("cannot start " + words[0] + ": " + std::strerror(failed), "install the package llvm-spirv-15");
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}
} // namespace

Result<std::string> spirvToBitcode(const std::string &spirv) {
  auto folder = temporaryFolder();
  auto in = folder / "module.spv", out = folder / "module.bc", log = folder / "translator.log";
  if (Status written = writeFile(in, spirv); !written)
    return std::unexpected(written.error());
  std::filesystem::remove(out);
  auto status = runLogged({translator, "-r", in.string(), "-o", out.string()}, log.string());
  if (!status)
    return std::unexpected(status.error());
  if (*status != 0 || !std::filesystem::exists(out)) {
    auto words = readFile(log);
    return unsupported(std::string(translator) + " cannot read the module: " +
                       (words ? words->substr(0, 2000) : "it said nothing"));
  }
  return readFile(out, 1ull << 30);
}

} // namespace opsight::card
