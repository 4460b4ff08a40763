// What a watched kernel says of itself while it is still one thread's code: calls that `watch` puts before accesses,
// barriers and at the head of basic blocks. Where threads become lanes (warp/emit_watch.cpp), or where a block is one
// thread (publish_alone), each becomes code that publishes for all threads of a warp (Publisher), or that checks
// (checker.h).
#pragma once
#include "card/watch_ring.h"
#include "lower/pass.h"
#include <llvm/IR/IRBuilder.h>

namespace opsight::lower::watch {

/// The kernel's parameter that holds the ring (card/watch_ring.h).
inline constexpr const char *ringName = "opsight.watch";

/// What a call says; the first operand is always a constant number.
enum class Say {
  Access, // (site, i64 address)
  Store,  // (site, i64 address, i32 value)
  Point,  // (site, i32 event, i32 more)
  Array,  // (object, i64 address): where this block has the array
  Block,  // (basic block)
  // Under checks, in place of the first two:
  Check,      // (site, ptr address, ptr start of the site's object; null where it has none)
  CheckLocal, // (site, i64 offset in the local array)
  Enter,      // (0): the threads begin
};

void say(llvm::IRBuilder<> &b, Say what, uint32_t number, llvm::ArrayRef<llvm::Value *> more = {});
/// What `call` says, if it is one of these.
std::optional<Say> saidBy(const llvm::CallInst &call);
/// The number that such a call begins with.
uint32_t numberOf(const llvm::CallInst &call);

/// Emits what publishes, at `b`, for the threads of one warp.
class Publisher {
public:
  Publisher(llvm::IRBuilder<> &b, llvm::Function &kernel) : b_(b), kernel_(kernel) {}

  /// `addresses` and `values` point to card::warpLanes of i64 and i32; `values` may be null.
  void access(const llvm::CallInst &call, llvm::Value *warp, llvm::Value *mask, llvm::Value *addresses,
              llvm::Value *values);
  void point(const llvm::CallInst &call, llvm::Value *warp, llvm::Value *mask, llvm::Value *more);
  void array(const llvm::CallInst &call, llvm::Value *warp, llvm::Value *mask, llvm::Value *address);
  void block(const llvm::CallInst &call, llvm::Value *mask);

private:
  llvm::Value *ring();
  void callRuntime(const char *name, llvm::ArrayRef<llvm::Value *> arguments);

  llvm::IRBuilder<> &b_;
  llvm::Function &kernel_;
};

/// Of the kernel's block, x fastest, i64.
llvm::Value *blockIndex(llvm::IRBuilder<> &b, llvm::Function &kernel);

extern const Pass join_accesses, watch, merge_checks, publish_alone, link_publish;

} // namespace opsight::lower::watch
