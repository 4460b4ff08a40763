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

/// Numbers that a vector or structure holds, those within others counted; else 1.
unsigned elementsOf(const llvm::Type *type);
/// How many of them lie before what `indices` lead to, which `type` becomes.
unsigned elementsBefore(llvm::Type *&type, llvm::ArrayRef<unsigned> indices);

struct Step {
  llvm::Instruction *instruction;
  std::vector<unsigned> operands; // numbers of values
  unsigned result;                // structures and vectors have the following numbers, too (elementsOf)
};

struct Program {
  Program(llvm::Function &kernel, uint64_t dynamicSharedBytes);

  unsigned number(const llvm::Value *value) const { return numbers.lookup(value); }
  /// Of a vector, of one element.
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
  void addConstant(const llvm::Constant *value);
  llvm::DenseMap<const llvm::GlobalVariable *, uint64_t> addresses;
};

} // namespace opsight::fuzz
