// See checker.h.
#include "lower/watch/checker.h"
#include "lower/kernel.h"
#include <llvm/ADT/bit.h>

namespace opsight::lower::watch {

using card::Site, card::Space, llvm::Value;
namespace how = card::how;

constexpr uint32_t mostUnits = 16; // that one thread accesses at once, for shadowPad and for code of a sensible size

uint32_t Checker::unitsOf(uint32_t site) const {
  const Site &at = watch_.sites[site];
  return at.space == Space::Local ? 1 : at.bytes >> uses_[size_t(at.object)].shift;
}

bool Checker::isRegular(uint32_t site) const {
  const Site &at = watch_.sites[site];
  return at.object >= 0 && llvm::has_single_bit(at.bytes) && unitsOf(site) <= mostUnits;
}

uint32_t Checker::howOf(uint32_t site) const {
  const Site &at = watch_.sites[site];
  uint32_t kind = at.kind == Site::Kind::Load ? how::Load : at.kind == Site::Kind::Store ? how::Store : how::Atomic;
  if (at.object < 0 || at.space == Space::Local)
    return kind;
  return kind | card::howOf(uses_[size_t(at.object)], at.space) | phases_ | epochs_;
}

uint64_t Checker::extentOf(uint32_t site) const {
  const Site &at = watch_.sites[site];
  return at.space == Space::Global ? 0 : watch_.objects[size_t(at.object)].bytes;
}

Value *Checker::shadow() { return findArgument(kernel_, shadowName); }

void Checker::callRuntime(const llvm::Twine &name, llvm::ArrayRef<Value *> arguments) {
  llvm::SmallVector<llvm::Type *> types;
  for (Value *argument : arguments)
    types.push_back(argument->getType());
  llvm::FunctionCallee callee =
      kernel_.getParent()->getOrInsertFunction(name.str(), llvm::FunctionType::get(b_.getVoidTy(), types, false));
  b_.CreateCall(callee, arguments)->setDoesNotThrow();
}

void Checker::regular(const llvm::Twine &name, const Checked &access, Value *offset, uint32_t how, uint64_t bytes) {
  const Site &at = watch_.sites[access.site];
  callRuntime(name, {shadow(), b_.getInt32(uint32_t(at.object)), b_.getInt64(extentOf(access.site)), offset,
                     access.mask, b_.getInt32(access.site), access.warp, b_.getInt32(how),
                     b_.getInt32(uint32_t(bytes ? bytes : at.bytes)), b_.getInt32(alignmentOf(access.site))});
}

void Checker::row(const Checked &access, const Row &row, Value *offset) {
  unsigned width = std::max(2u, llvm::bit_ceil(row.count));
  uint32_t how = howOf(access.site) | row.first << how::laneAt |
                 uint32_t(llvm::Log2_32(unitsOf(access.site))) << how::unitsAt | (row.isShared ? how::several : 0) |
                 (row.isWhole && width == row.count ? how::whole : 0);
  regular("opsight_check_row" + llvm::Twine(width), access, offset, how);
}

void Checker::place(const Checked &access, Value *offset) {
  regular("opsight_check_place" + llvm::Twine(unitsOf(access.site)), access, offset, howOf(access.site));
}

void Checker::span(const Checked &access, Value *offset, uint64_t bytes) {
  regular("opsight_check_place1", access, offset, howOf(access.site), bytes);
}

void Checker::lanes(const Checked &access, Value *offsets) {
  regular(isRemembered(access.site) ? "opsight_look_lanes" : "opsight_check_bounds", access, offsets,
          howOf(access.site));
}

void Checker::anywhere(const Checked &access, Value *addresses) {
  const Site &at = watch_.sites[access.site];
  callRuntime("opsight_look_anywhere",
              {shadow(), addresses, access.mask, b_.getInt32(access.site), access.warp, b_.getInt32(howOf(access.site)),
               b_.getInt32(at.bytes), b_.getInt32(alignmentOf(access.site))});
}

void Checker::enter(Value *warp) { callRuntime("opsight_check_enter", {shadow(), warp, blockIndex(b_, kernel_)}); }

void Checker::array(uint32_t object, Value *address) {
  callRuntime("opsight_check_array", {shadow(), b_.getInt32(object), address});
}

void Checker::barrier(Value *warp, Value *mask) { callRuntime("opsight_check_barrier", {shadow(), warp, mask}); }

void Checker::sync(Value *warp, Value *mask, Value *members, Value *existing) {
  callRuntime("opsight_check_sync", {shadow(), warp, b_.CreateAnd(mask, members), existing});
}

} // namespace opsight::lower::watch
