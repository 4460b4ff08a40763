#include "card/worker/temporary.h"
#include <chrono>
#include <cstdlib>
#include <thread>

namespace opsight::card {

std::filesystem::path temporaryFolder() {
  const char *folder = std::getenv(temporaryVariable);
  return folder ? folder : "";
}

void removeTemporaryFolder() {
  std::error_code ignored;
  auto folder = temporaryFolder();
  if (!folder.filename().string().starts_with("opsight-"))
    return;
  // A driver that is still compiling writes while its folder is emptied.
  for (int attempt = 0; attempt < 100 && std::filesystem::exists(folder, ignored); ++attempt) {
    std::filesystem::remove_all(folder, ignored);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

} // namespace opsight::card
