#include "card/worker/temporary.h"
#include <cstdlib>

namespace opsight::card {

std::filesystem::path temporaryFolder() {
  const char *folder = std::getenv(temporaryVariable);
  return folder ? folder : "";
}

void removeTemporaryFolder() {
  std::error_code ignored;
  if (auto folder = temporaryFolder(); folder.filename().string().starts_with("opsight-"))
    std::filesystem::remove_all(folder, ignored);
}

} // namespace opsight::card
