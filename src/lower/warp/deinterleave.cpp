// See deinterleave.h.
#include "lower/warp/deinterleave.h"
#include <llvm/IR/Instructions.h>
#include <llvm/Support/MathExtras.h>

namespace opsight::lower::warp {

using llvm::ShuffleVectorInst, llvm::Value;

constexpr unsigned deepest = 3; // rounds of eight parts
constexpr size_t mostParts = 4;

static unsigned lanesOf(const Value *vector) {
  return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
}

Vectors deinterleave(llvm::IRBuilder<> &b, Vectors raw) {
  unsigned lanes = lanesOf(raw[0]);
  for (size_t apart = 1; apart < raw.size(); apart *= 2) {
    Vectors next;
    for (int odd : {0, 1})
      for (size_t pair = 0; pair < raw.size(); pair += 2) {
        llvm::SmallVector<int> from;
        for (unsigned lane = 0; lane < lanes; ++lane)
          from.push_back(int(2 * lane) + odd);
        next.push_back(b.CreateShuffleVector(raw[pair], raw[pair + 1], from));
      }
    raw = std::move(next);
  }
  return raw;
}

unsigned permutationsOf(size_t parts) { return unsigned(parts) * llvm::Log2_64(parts); }

/// Through shuffles up to a vector for which `isEnd` holds; null where a lane is none or too many shuffles are between.
static Origin originOf(Value *vector, int lane, llvm::function_ref<bool(Value *)> isEnd) {
  for (unsigned depth = 0; depth <= deepest; ++depth) {
    if (isEnd(vector))
      return {vector, lane};
    auto *shuffle = llvm::dyn_cast<ShuffleVectorInst>(vector);
    int from = shuffle ? shuffle->getMaskValue(unsigned(lane)) : -1;
    if (from < 0)
      break;
    int width = int(lanesOf(shuffle->getOperand(0)));
    vector = shuffle->getOperand(from < width ? 0 : 1);
    lane = from < width ? from : from - width;
  }
  return {nullptr, 0};
}

std::optional<Part> asPartOfLoads(ShuffleVectorInst &shuffle) {
  auto isLoad = [&](Value *value) { return llvm::isa<llvm::LoadInst>(value) && value->getType() == shuffle.getType(); };
  unsigned lanes = lanesOf(&shuffle);
  Origin first = originOf(&shuffle, 0, isLoad), second = lanes > 1 ? originOf(&shuffle, 1, isLoad) : Origin{};
  if (!first.vector || first.vector != second.vector || second.lane <= first.lane)
    return std::nullopt;
  size_t parts = size_t(second.lane - first.lane);
  if (!llvm::isPowerOf2_64(parts) || parts < 2 || parts > mostParts || parts > lanes || size_t(first.lane) >= parts)
    return std::nullopt;
  Part part{Vectors(parts, nullptr), unsigned(first.lane)};
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Origin from = originOf(&shuffle, int(lane), isLoad);
    size_t element = lane * parts + part.number;
    Value *&raw = part.raw[element / lanes];
    if (!from.vector || size_t(from.lane) != element % lanes || (raw && raw != from.vector))
      return std::nullopt;
    raw = from.vector;
  }
  return part;
}

std::optional<Vectors> interleavedBy(ShuffleVectorInst &shuffle, unsigned lanes) {
  auto isPart = [&](Value *value) { return lanesOf(value) == lanes; };
  unsigned all = lanesOf(&shuffle);
  size_t parts = all / lanes;
  if (all % lanes || parts < 2 || parts > mostParts || !llvm::isPowerOf2_64(parts))
    return std::nullopt;
  Vectors found(parts, nullptr);
  for (unsigned i = 0; i < all; ++i) {
    Origin from = originOf(&shuffle, int(i), isPart);
    Value *&part = found[i % parts];
    if (!from.vector || size_t(from.lane) != i / parts || (part && part != from.vector))
      return std::nullopt;
    part = from.vector;
  }
  return found;
}

} // namespace opsight::lower::warp
