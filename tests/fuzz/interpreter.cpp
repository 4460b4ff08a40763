// The threads of a block and what they do together, by the PTX manual's rules.
#include "fuzz/interpreter.h"
#include "fuzz/thread.h"
#include <bit>
#include <memory>

namespace opsight::fuzz {
namespace {

class Block {
public:
  Block(const Program &program, const Launch &launch, card::Dim3 index, std::span<const Region> memory) {
    for (unsigned i = 0; i < launch.block.count(); ++i)
      threads_.push_back(std::make_unique<Thread>(program, launch, index, i, memory));
  }
  /// Why it cannot go on, or nothing.
  std::string run();

private:
  bool meetInWarps();
  bool meetInBlock();
  std::vector<Thread *> partners(const Thread &thread) const;
  std::vector<std::unique_ptr<Thread>> threads_;
};

llvm::StringRef nameOf(const Step *step) {
  llvm::StringRef name = llvm::cast<llvm::CallInst>(step->instruction)->getCalledFunction()->getName();
  name.consume_front("llvm.nvvm.");
  return name;
}
bool isBarrier(const Step *step) { return nameOf(step).starts_with("barrier.cta."); }

/// What one lane puts in: the operands of its operation.
struct Lane {
  unsigned number;
  std::vector<uint64_t> operands;
};

uint64_t shuffle(llvm::StringRef name, const Lane &self, std::span<const Lane> all) {
  auto b = unsigned(self.operands[2]) & 31, c = unsigned(self.operands[3]), lane = self.number;
  unsigned limit = c & 31, segment = c >> 8 & 31;
  unsigned most = (lane & segment) | (limit & ~segment), least = lane & segment;
  int from = name.contains(".up.") ? int(lane) - int(b)
                                   : int(name.contains(".down.")   ? lane + b
                                         : name.contains(".bfly.") ? lane ^ b
                                                                   : least | (b & ~segment));
  bool inRange = name.contains(".up.") ? from >= int(most) : from <= int(most);
  if (!inRange)
    from = int(lane);
  for (const Lane &other : all)
    if (int(other.number) == from)
      return other.operands[1];
  return self.operands[1]; // a lane that takes no part: undefined, and no kernel here asks
}

uint64_t vote(llvm::StringRef name, std::span<const Lane> all) {
  uint64_t yes = 0, who = 0;
  for (const Lane &lane : all) {
    yes |= (lane.operands[1] & 1) << lane.number;
    who |= uint64_t(1) << lane.number;
  }
  return name.contains("ballot") ? yes : name.contains("any") ? yes != 0 : yes == who;
}

uint64_t match(const Lane &self, std::span<const Lane> all) {
  uint64_t same = 0;
  for (const Lane &lane : all)
    same |= uint64_t(lane.operands[1] == self.operands[1]) << lane.number;
  return same;
}

uint64_t reduce(llvm::StringRef name, std::span<const Lane> all) {
  auto value = uint32_t(all[0].operands[0]);
  for (const Lane &lane : all.subspan(1)) {
    auto next = uint32_t(lane.operands[0]);
    if (name.contains(".add"))
      value += next;
    else if (name.contains(".umin"))
      value = std::min(value, next);
    else if (name.contains(".umax"))
      value = std::max(value, next);
    else if (name.contains(".min"))
      value = uint32_t(std::min(int32_t(value), int32_t(next)));
    else if (name.contains(".max"))
      value = uint32_t(std::max(int32_t(value), int32_t(next)));
    else
      value = name.contains(".and") ? value & next : name.contains(".xor") ? value ^ next : value | next;
  }
  return value;
}

uint64_t together(llvm::StringRef name, const Lane &self, std::span<const Lane> all) {
  if (name.starts_with("shfl."))
    return shuffle(name, self, all);
  if (name.starts_with("vote."))
    return vote(name, all);
  if (name.starts_with("match.any."))
    return match(self, all);
  return name.starts_with("redux.") ? reduce(name, all) : 0;
}

uint32_t maskOf(const Thread &thread) {
  const Step *step = thread.waitsAt;
  bool last = nameOf(step).starts_with("redux.");
  return uint32_t(thread.operand(last ? 1 : 0));
}

} // namespace

/// The lanes that `thread`'s mask names, if all who live stand where it stands.
std::vector<Thread *> Block::partners(const Thread &thread) const {
  std::vector<Thread *> result;
  uint32_t mask = maskOf(thread);
  unsigned first = thread.number / 32 * 32;
  for (unsigned i = first; i < std::min<size_t>(first + 32, threads_.size()); ++i) {
    if (!(mask >> (i - first) & 1) || threads_[i]->returned)
      continue;
    if (threads_[i]->waitsAt != thread.waitsAt || maskOf(*threads_[i]) != mask)
      return {};
    result.push_back(threads_[i].get());
  }
  return result;
}

bool Block::meetInWarps() {
  bool moved = false;
  for (auto &thread : threads_) {
    if (!thread->waitsAt || isBarrier(thread->waitsAt))
      continue;
    std::vector<Thread *> group = partners(*thread);
    llvm::StringRef name = nameOf(thread->waitsAt);
    std::vector<Lane> lanes;
    for (Thread *member : group) {
      lanes.push_back({member->number % 32, {}});
      for (unsigned i = 0; i < member->waitsAt->operands.size() - 1; ++i) // the last is the callee
        lanes.back().operands.push_back(member->operand(i));
    }
    for (size_t i = 0; i < group.size(); ++i)
      group[i]->resume(together(name, lanes[i], lanes));
    moved |= !group.empty();
  }
  return moved;
}

bool Block::meetInBlock() {
  uint64_t count = 0, living = 0;
  llvm::StringRef name;
  for (auto &thread : threads_) {
    if (thread->returned)
      continue;
    if (!thread->waitsAt || !isBarrier(thread->waitsAt) || (living && nameOf(thread->waitsAt) != name))
      return false;
    name = nameOf(thread->waitsAt);
    ++living;
    count += name.contains(".red.") ? thread->operand(1) & 1 : 0;
  }
  uint64_t result = name.contains(".popc.") ? count : name.contains(".and.") ? count == living : count != 0;
  for (auto &thread : threads_)
    if (!thread->returned)
      thread->resume(result);
  return living > 0;
}

std::string Block::run() {
  for (;;) {
    bool done = true;
    for (auto &thread : threads_) {
      thread->run();
      if (!thread->failed.empty())
        return thread->failed;
      done &= thread->returned;
    }
    if (done)
      return {};
    if (!meetInWarps() && !meetInBlock())
      return "threads wait for each other at different places";
  }
}

std::optional<std::string> interpret(llvm::Function &kernel, const Launch &launch,
                                     std::span<const std::span<std::byte>> memory) {
  Program program(kernel, launch.sharedBytes);
  if (!program.refused.empty())
    return program.refused;
  for (std::span<std::byte> bytes : memory)
    program.regions.push_back(
        {reinterpret_cast<uint64_t>(bytes.data()), reinterpret_cast<uint64_t>(bytes.data() + bytes.size())});
  for (uint32_t z = 0; z < launch.grid.z; ++z)
    for (uint32_t y = 0; y < launch.grid.y; ++y)
      for (uint32_t x = 0; x < launch.grid.x; ++x)
        if (std::string why = Block(program, launch, {x, y, z}, program.regions).run(); !why.empty())
          return why;
  return std::nullopt;
}

} // namespace opsight::fuzz
