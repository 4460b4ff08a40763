// Which bytes of a piece of memory have been written.
#pragma once
#include <cstdint>
#include <vector>

namespace opsight::sight {

class WrittenBytes {
public:
  WrittenBytes() = default;
  explicit WrittenBytes(uint64_t bytes) : bytes_(bytes), words_((bytes + 63) / 64 + 1, 0) {}

  uint64_t size() const { return bytes_; }
  void clear() { words_.assign(words_.size(), 0); }
  /// Of `count` bytes from `first`, all within the memory.
  void set(uint64_t first, uint64_t count) {
    for (; count > 0;) {
      uint64_t some = count < 32 ? count : 32;
      put(first, mask(some));
      first += some, count -= some;
    }
  }
  bool all(uint64_t first, uint64_t count) const {
    for (; count > 0;) {
      uint64_t some = count < 32 ? count : 32, wanted = mask(some);
      if ((get(first) & wanted) != wanted)
        return false;
      first += some, count -= some;
    }
    return true;
  }

  /// The same of up to 32 that do not cross a multiple of 64.
  bool inWord(uint64_t first, uint64_t count) const { return (~words_[first / 64] >> first % 64 & mask(count)) == 0; }

private:
  static uint64_t mask(uint64_t bits) { return (uint64_t(1) << bits) - 1; }
  /// 32 bits and more from bit `first` on.
  uint64_t get(uint64_t first) const {
    uint64_t low = words_[first / 64] >> first % 64, shift = 64 - first % 64;
    return shift == 64 ? low : low | words_[first / 64 + 1] << shift;
  }
  void put(uint64_t first, uint64_t bits) {
    words_[first / 64] |= bits << first % 64;
    if (first % 64 > 32)
      words_[first / 64 + 1] |= bits >> (64 - first % 64);
  }

  uint64_t bytes_ = 0;
  std::vector<uint64_t> words_; // a bit a byte, and one word more than is needed
};

} // namespace opsight::sight
