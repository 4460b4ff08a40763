#include "fuzz/memory.h"
#include <cstring>
#include <fmt/format.h>
#include <random>
#include <sys/mman.h>

namespace opsight::fuzz {

constexpr size_t page = 4096;
constexpr unsigned firstOutput = 3;
static const char *const names[] = {"in", "reals", "bytes", "out", "shorts", "floats", "counts", "longs"};
static constexpr size_t widths[] = {4, 4, 1, 4, 2, 4, 4, 8};

Pages::Pages(size_t bytes) : length_((bytes + page - 1) / page * page + page) {
  mapped_ = ::mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto *begin = static_cast<std::byte *>(mapped_);
  ::mprotect(begin + length_ - page, page, PROT_NONE);
  bytes_ = {begin + length_ - page - bytes, bytes};
}
Pages::~Pages() { ::munmap(mapped_, length_); }

Memory::Memory(const Kernel &kernel) : kernel_(kernel) {
  size_t threads = kernel.threads();
  size_t counts[] = {
      inputs, inputs, inputs, (mostStores + finals) * threads, mostStores * threads, mostStores * threads, counters, counters};
  for (unsigned i = 0; i < std::size(counts); ++i)
    buffers_.push_back(std::make_unique<Pages>(counts[i] * widths[i]));
  std::mt19937_64 random(kernel.seed);
  auto *in = reinterpret_cast<int *>(buffers_[0]->bytes().data());
  auto *reals = reinterpret_cast<float *>(buffers_[1]->bytes().data());
  for (unsigned i = 0; i < inputs; ++i) {
    uint64_t word = random();
    in[i] = word % 4 ? int(word >> 8 & 63) - 16 : int(word >> 32);
    reals[i] = word % 16 == 5 ? 0.0f : float(int64_t(word)) * (word % 8 ? 0x1p-60f : 0x1p20f);
    buffers_[2]->bytes()[i] = std::byte(word >> 16);
  }
  reset();
}

void Memory::reset() {
  for (unsigned i = firstOutput; i < buffers_.size(); ++i)
    std::memset(buffers_[i]->bytes().data(), 0x11 * int(i), buffers_[i]->bytes().size());
}

std::vector<std::span<std::byte>> Memory::all() const {
  std::vector<std::span<std::byte>> result;
  for (auto &buffer : buffers_)
    result.push_back(buffer->bytes());
  return result;
}

std::vector<uint64_t> Memory::arguments() const {
  std::vector<uint64_t> result;
  for (auto &buffer : buffers_)
    result.push_back(reinterpret_cast<uint64_t>(buffer->bytes().data()));
  result.push_back(uint32_t(kernel_.n));
  result.push_back(uint32_t(kernel_.m));
  return result;
}

std::vector<std::byte> Memory::outputs() const {
  std::vector<std::byte> result;
  for (auto &buffer : buffers_) // inputs, too: nobody may write there
    result.insert(result.end(), buffer->bytes().begin(), buffer->bytes().end());
  return result;
}

std::string Memory::place(size_t index) const {
  for (unsigned i = 0; i < buffers_.size(); ++i) {
    if (index < buffers_[i]->bytes().size())
      return fmt::format("{}[{}]", names[i], index / widths[i]);
    index -= buffers_[i]->bytes().size();
  }
  return "nowhere";
}

} // namespace opsight::fuzz
