// Buffer over shared memory with sentinels around it.
#pragma once
#include "card/worker_session.h"

namespace opsight::card {

class SharedBuffer final : public Buffer {
public:
  static Result<std::unique_ptr<Buffer>> create(std::shared_ptr<BufferTable> table, uint64_t bytes, uint32_t alignment);
  ~SharedBuffer() override;
  std::span<std::byte> bytes() override { return memory_->bytes().subspan(layout_.offset, layout_.bytes); }
  /// Twice with NaN, when the buffer is made and first used, then twice with numbers, and so on.
  void arm() override {
    sentinel_ = arms_++ / 2 % 2 ? Sentinel::Number : Sentinel::NotANumber;
    layout_.arm(memory_->bytes(), sentinel_);
  }
  std::optional<int64_t> firstScribble() const override { return layout_.firstScribble(memory_->bytes(), sentinel_); }
  uint32_t id() const override { return id_; }

private:
  SharedBuffer() = default;
  std::shared_ptr<BufferTable> table_;
  std::unique_ptr<SharedMemory> memory_;
  GuardedLayout layout_;
  Sentinel sentinel_ = Sentinel::NotANumber;
  uint32_t arms_ = 0;
  uint32_t id_ = 0;
};

} // namespace opsight::card
