// Parts that could as well stay raw (deinterleave.h): found as sets of instructions that do the same to each part.
#pragma once
#include "lower/warp/deinterleave.h"
#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>

namespace opsight::lower::warp {

/// One value for each part. All lanes of all parts go through the same operation, whose operands are bundles themselves
/// or one number for all: then their order does not matter.
struct Bundle {
  Vectors members;
  Vectors raw;                     // of one that comes from memory
  llvm::SmallVector<int> operands; // numbers of bundles; -1: one number for all
  bool isValid = true;

  bool isLoaded() const { return !raw.empty(); }
  llvm::Instruction *member(size_t part) const { return llvm::cast<llvm::Instruction>(members[part]); }
  /// Behind which the bundle's raw vectors can be computed.
  llvm::Instruction *last() const;
};

/// A bundle that goes back to the raw order: `shuffle` is its raw vectors, one behind the other.
struct Rejoined {
  llvm::ShuffleVectorInst *shuffle;
  int bundle;
};

class Bundles {
public:
  /// Of vectors of `lanes` elements.
  Bundles(llvm::Function &kernel, unsigned lanes, const llvm::LoopInfo &loops);

  llvm::SmallVector<Bundle> all;
  llvm::SmallVector<Rejoined> rejoined; // of valid ones

  /// Uses of the bundle's members by others than valid bundles and what rejoins them.
  llvm::SmallVector<llvm::Use *> escapes(const Bundle &bundle) const;

private:
  void findLoaded();
  void grow();
  void visitUsers(int number);
  llvm::Instruction *partner(llvm::Instruction &first, unsigned slot, llvm::Value *member) const;
  int add(Vectors members);
  int bundleOf(const Vectors &members) const;
  bool linkOperands(Bundle &bundle);
  void invalidate();
  void findRejoined();
  void keepWhatPays();
  bool isRejoining(llvm::User *user, int bundle) const;

  llvm::Function &kernel_;
  unsigned lanes_;
  const llvm::LoopInfo &loops_;
  llvm::DenseMap<llvm::Value *, int> numbers_;
};

} // namespace opsight::lower::warp
