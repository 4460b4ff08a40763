#include "card/shared_buffer.h"
#include <algorithm>

namespace opsight::card {

Result<std::unique_ptr<Buffer>> SharedBuffer::create(std::shared_ptr<BufferTable> table, uint64_t bytes,
                                                     uint32_t alignment) {
  std::unique_ptr<SharedBuffer> buffer(new SharedBuffer);
  buffer->id_ = table->next++;
  buffer->layout_ = GuardedLayout::make(bytes, alignment, buffer->id_ * 5u);
  auto memory = SharedMemory::create("opsight-buffer", buffer->layout_.regionBytes);
  if (!memory)
    return std::unexpected(memory.error());
  buffer->memory_ = std::move(*memory);
  std::ranges::fill(buffer->bytes(), std::byte{0xFF});
  buffer->arm();
  buffer->table_ = std::move(table);
  buffer->table_->live[buffer->id_] = {buffer->memory_.get(), buffer->layout_, 0, 0, buffer.get()};
  return buffer;
}

SharedBuffer::~SharedBuffer() {
  if (!table_)
    return;
  table_->live.erase(id_);
  table_->released.push_back(id_);
}

} // namespace opsight::card
