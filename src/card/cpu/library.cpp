#include "card/cpu/library.h"
#include "card/cpu/onednn_attention.h"
#include "card/library.h"

namespace opsight::card {

namespace {
constexpr LibraryFunction functions[] = {{oneDnnAttention, runOneDnnAttention}};
}

const LibraryFunction *findLibraryFunction(std::string_view name) {
  for (const LibraryFunction &function : functions)
    if (name == function.name)
      return &function;
  return nullptr;
}

} // namespace opsight::card
