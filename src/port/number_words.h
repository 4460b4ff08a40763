// Numbers as people write them: 1e-5, 1×10^-5, 0.00001, 70%, 七成, 百分之七十, 十万分之一, and sizes, 64x64.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace opsight::port {

struct WrittenNumber {
  double value = 0;
  bool ratio = false, whole = false;
  int64_t rows = 0, columns = 0; // a size, where rows is not 0
  size_t length = 0;             // bytes read
};

/// The number or size that folded `text` starts with, if it starts with one.
std::optional<WrittenNumber> readNumber(std::string_view text);

} // namespace opsight::port
