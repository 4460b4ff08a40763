// Emits the checks of code that is lowered under checks (Watched::Checked): calls of the functions of check/, one a
// pattern of addresses, with all that the compiler knows of the access as constants.
#pragma once
#include "card/shadow_plan.h"
#include "lower/watch/calls.h"

namespace opsight::lower::watch {

/// The kernel's parameter that holds the shadow memory (card/shadow.h).
inline constexpr const char *shadowName = "opsight.shadow";

/// An access of threads of one warp.
struct Checked {
  uint32_t site = 0;
  llvm::Value *warp = nullptr, *mask = nullptr; // i32: its number, and a bit for each thread that takes part
};
/// Threads side by side, each one's bytes behind those of the one before; bit i of the mask is the ith one's.
struct Row {
  unsigned first = 0, count = 0; // lanes
  bool isWhole = false;          // the mask has `count` bits set, for sure
  bool isShared = false;         // other lanes, too, access what these do
};

class Checker {
public:
  Checker(llvm::IRBuilder<> &b, const Context &context, llvm::Function &kernel)
      : b_(b), watch_(*context.watch), uses_(card::shadowUses(*context.watch)), kernel_(kernel) {
    for (const card::Site &site : watch_.sites) {
      phases_ |= site.kind == card::Site::Kind::Barrier ? card::how::phases : 0;
      epochs_ |= site.kind == card::Site::Kind::WarpSync ? card::how::epochs : 0;
    }
  }

  const card::Site &site(uint32_t number) const { return watch_.sites[number]; }
  /// Whether row() and place() can be used: an object that is known, a power of two of units, not too many.
  bool isRegular(uint32_t site) const;

  /// Offsets (i64) are from the start of the site's object.
  void row(const Checked &access, const Row &row, llvm::Value *offset);
  void place(const Checked &access, llvm::Value *offset);
  /// All of `bytes` bytes, of an object of which nothing is remembered.
  void span(const Checked &access, llvm::Value *offset, uint64_t bytes);
  bool isRemembered(uint32_t site) const { return howOf(site) & card::how::cells; }
  /// `offsets` points to card::warpLanes of i64.
  void lanes(const Checked &access, llvm::Value *offsets);
  /// The same for addresses, where the site knows no object.
  void anywhere(const Checked &access, llvm::Value *addresses);

  void enter(llvm::Value *warp);
  void array(uint32_t object, llvm::Value *address);
  void barrier(llvm::Value *warp, llvm::Value *mask);
  /// `members` of `mask` wait for each other, of the warp's `existing`.
  void sync(llvm::Value *warp, llvm::Value *mask, llvm::Value *members, llvm::Value *existing);

private:
  uint32_t howOf(uint32_t site) const;
  uint32_t unitsOf(uint32_t site) const;
  uint32_t alignmentOf(uint32_t site) const { return watch_.sites[site].alignment; }
  /// Bytes of the object where they are known by now; else 0.
  uint64_t extentOf(uint32_t site) const;
  llvm::Value *shadow();
  void callRuntime(const llvm::Twine &name, llvm::ArrayRef<llvm::Value *> arguments);
  void regular(const llvm::Twine &name, const Checked &access, llvm::Value *offset, uint32_t how, uint64_t bytes = 0);

  llvm::IRBuilder<> &b_;
  const card::Watch &watch_;
  std::vector<card::ShadowUse> uses_;
  llvm::Function &kernel_;
  uint32_t phases_ = 0, epochs_ = 0;
};

} // namespace opsight::lower::watch
