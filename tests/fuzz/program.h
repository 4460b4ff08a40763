// A kernel made ready for the interpreter: each value has a number, each block its instructions in a row.
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <string>
#include <vector>

namespace opsight::fuzz {

/// The host's memory that a pointer may lead to.
struct Region {
  uint64_t begin = 0, end = 0;
};

struct Step {
  llvm::Instruction *instruction;
  std::vector<unsigned> operands; // numbers of values
  unsigned result;                // a structure of two has the following number, too
};

struct Program {
  Program(llvm::Function &kernel, uint64_t dynamicSharedBytes);

  unsigned number(const llvm::Value *value) const { return numbers.lookup(value); }
  unsigned bits(const llvm::Type *type) const;

  llvm::Function &kernel;
  const llvm::DataLayout &layout;
  std::vector<uint64_t> initial; // values before the first instruction: constants are there
  std::vector<unsigned> arguments;
  std::vector<std::vector<Step>> blocks;
  std::vector<std::byte> shared, constants; // never moved
  std::vector<Region> regions;
  uint64_t stackBytes = 0;
  std::string refused{}; // what no value can be made of
  llvm::DenseMap<const llvm::Value *, unsigned> numbers;
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> blockNumbers;

private:
  void placeGlobals(uint64_t dynamicSharedBytes);
  uint64_t constant(const llvm::Constant *constant);
  void write(const llvm::Constant *constant, std::byte *to);
  unsigned numberOf(llvm::Value *value);
  llvm::DenseMap<const llvm::GlobalVariable *, uint64_t> addresses;
};

} // namespace opsight::fuzz
