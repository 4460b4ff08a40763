#include "card/cpu/library.h"

namespace opsight::card {

const LibraryFunction *findLibraryFunction(std::string_view name) {
  return nullptr;
}

} // namespace opsight::card
