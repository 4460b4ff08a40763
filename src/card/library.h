// The vendor's functions that the worker offers as references for speed, under Format::Library: which there are and what
// parameters they take, in order. Everything is contiguous, float, in device memory; a function is launched with one block
// of one thread and spreads the work over the cores itself.
#pragma once
#include "card/artifact.h"

namespace opsight::card {

/// Tensors are those of the operator, sizes (int64) its symbols; a real (float) or whole (int32) number is a scalar of its
/// that is no size, an option (int32) the index of its value. A tensor that an option leaves out is null or not read.
struct LibraryParameter {
  enum class Kind { Tensor, Size, Real, Whole, Option } kind;
  const char *name;
};

struct LibrarySignature {
  const char *operatorName; // the function is "onednn/" and this
  const char *how;          // how the library is used
  std::vector<LibraryParameter> parameters;
  /// The function is called only where an option has this value.
  struct Only {
    const char *option, *value;
  };
  std::vector<Only> only{};
};

/// Null where the library has nothing for the operator.
const LibrarySignature *librarySignature(std::string_view operatorName);

/// The artifact that names the function; manifest.notes say how the library is used.
Artifact libraryArtifact(const LibrarySignature &signature);

} // namespace opsight::card
