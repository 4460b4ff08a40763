// The buffer through which device printf and assert speak to the worker; device code writes it by plain stores and one
// 32-bit atomic, so every card can.
#pragma once
#include <cstdint>

namespace opsight::card {

/// Layout, little endian, 32-bit words: [0] words used after the header (atomically added to; may exceed the capacity),
/// [1] capacity in words, [2] 1 once an assert failed, [3] not 0 once threads did not meet at a barrier: 1 + the id of the
/// format that says so. Then records: [format id, count n, n words of arguments]. A format id indexes Manifest::formats.
/// An argument takes two words (integers sign-extended to 64 bits, doubles as bits). The argument of %s is itself the id
/// of a format, whose text is shown as it is; the user's formats have no %s.
struct MessageHeader {
  uint32_t used, capacity, asserted, unmet;
};
inline constexpr uint32_t messageWords = 1u << 16;

} // namespace opsight::card
