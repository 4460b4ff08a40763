// NumPy's .npy files (format versions 1 to 3, NEP 1): arrays of numbers in C order, little endian.
#pragma once
#include "operator/operator.h"
#include <filesystem>

namespace opsight::ops {

struct NpyArray {
  std::string type; // NumPy's, without the byte order: "f4", "i4", "u1", "b1"
  std::vector<int64_t> shape;
  std::string bytes;
};

/// A user error that says what is not understood, or that the file is cut off.
Result<NpyArray> readNpy(const std::filesystem::path &file);

} // namespace opsight::ops
