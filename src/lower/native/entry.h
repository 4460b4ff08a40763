// The exported entry of card/cpu/abi.h, as far as it is the same for every kernel: it reads the arguments once and goes
// through the blocks of its range. block_range and warp_range write what is done for a block.
#pragma once
#include "lower/pass.h"
#include <array>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>

namespace opsight::lower::native {

/// An entry on the way: made of the kernel, which becomes its body and internal; the entry becomes the context's kernel
/// and reads what it is launched with. `b` stands where it goes on.
struct Entry {
  explicit Entry(Context &context);

  llvm::Function *body, *function;
  llvm::IRBuilder<> b;
  llvm::Value *table = nullptr;            // Launch::arguments
  llvm::SmallVector<llvm::Value *> values{}; // for the body's parameters; null until known
  llvm::Value *grid[3] = {};
  llvm::Value *order = nullptr;            // Launch::order

  /// What the body's parameter `name` receives; null when it has no such parameter.
  llvm::Value **value(llvm::StringRef name);
  llvm::Value *launch() const { return function->getArg(0); }
  llvm::Value *begin() const { return function->getArg(1); }
  llvm::Value *end() const { return function->getArg(2); }
  llvm::Value *shared() const { return function->getArg(3); }
  llvm::BasicBlock *block(const char *name) { return llvm::BasicBlock::Create(function->getContext(), name, function); }
};

/// Loads `type` from the launch, `offset` bytes behind its start.
llvm::Value *launchField(Entry &entry, llvm::Type *type, uint64_t offset, const llvm::Twine &name);

/// blockIdx of linear index `index`, by divisions.
std::array<llvm::Value *, 3> placeOfBlock(Entry &entry, llvm::Value *index);

/// The address that the launch gives for the manifest's parameter `index`.
llvm::Value *argumentAddress(Entry &entry, size_t index);

/// A loop over the range; `emit` writes what block `index` does, at `entry.b` and with the block's numbers among
/// `values`. Leaves `entry.b` behind the loop.
void forEachBlock(Entry &entry, llvm::function_ref<void(llvm::Value *index)> emit);

/// Returns from the entry; the body's structures by value are pointers to the caller's from here on.
void closeEntry(Entry &entry);

} // namespace opsight::lower::native
