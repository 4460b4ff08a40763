// Questions to the IR of a compiled kernel that evidence rests on: which device function an instruction came from, what
// comes first in a loop, how a loop steps, how a parameter's memory is read.
#pragma once
#include "cuda/module.h"
#include <map>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <optional>

namespace opsight::port {

class IrView {
public:
  using Instructions = std::vector<const llvm::Instruction *>;

  explicit IrView(const cuda::Module &module);

  /// Instructions on float values (or the memory of them) that were inlined from all of `functions`, outermost first.
  Instructions from(std::initializer_list<std::string_view> functions) const;

  /// The smallest loop that holds all of both; null when there is none.
  const llvm::Loop *commonLoop(const Instructions &a, const Instructions &b) const;
  /// Whether in every round of their common loop all of `first` come before any of `second`.
  bool ordered(const Instructions &first, const Instructions &second) const;

  /// A loop that carries `partials` float values from round to round and advances by `step`.
  struct Reduction {
    int64_t step = 0;
    size_t partials = 0;
    SourcePlace where;
  };
  /// The innermost loops of `instructions` that reduce: those that carry float values.
  std::vector<Reduction> reductions(const Instructions &instructions) const;

  /// A tile in the thread's own memory, seen as rows of registers, [rows x [n x <lanes x float>]], or shared by the
  /// block, [rows x [columns x float]].
  struct Tile {
    uint64_t rows = 0, columns = 0;
    std::string type;
  };
  std::optional<Tile> tileReadBy(const Instructions &instructions) const;

  /// How one pointer parameter's floats are read.
  struct Reading {
    size_t loads = 0;
    bool neighbours = false; // some loads lie 4 bytes apart
    bool rows = false;       // some lie `rowBytes` apart
    bool copied = false;     // some loaded value is stored as it is
  };
  Reading readingOf(std::string_view parameter, int64_t rowBytes);

  static SourcePlace placeOf(const llvm::Instruction &instruction);

private:
  const cuda::Module &module;
  llvm::Function &function;
  llvm::DominatorTree dominators;
  llvm::LoopInfo loops;
  llvm::AssumptionCache assumptions;
  llvm::TargetLibraryInfoImpl libraryTable;
  llvm::TargetLibraryInfo library;
  llvm::ScalarEvolution evolution;
};

} // namespace opsight::port
