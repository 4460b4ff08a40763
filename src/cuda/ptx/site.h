// Where the tables write LLVM IR: one statement of PTX, the registers of its text, and a builder at its place.
#pragma once
#include "cuda/ptx/statement.h"
#include "cuda/ptx/types.h"
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>

namespace opsight::cuda::ptx {

struct Register {
  llvm::Type *type = nullptr;
  llvm::Value *value = nullptr; // null: nothing has been written
  bool isInput = false;         // the compiler's own, not to be changed
  bool isConstant = false;      // by constraint "n" or "i": a number that fits any width
};

/// All registers that a text may name: operands of the asm, and what its scopes declare.
class Registers {
public:
  Registers() { open(); }
  void open() { scopes.emplace_back(); }
  void close() { scopes.pop_back(); }
  void declare(const std::string &name, Register made) { scopes.back()[name] = made; }
  Register *find(const std::string &name);
  llvm::Value *carry = nullptr; // what add.cc leaves for addc; null: nothing

  using Scope = llvm::StringMap<Register>;
  std::vector<Scope> scopes;
};

class Site {
public:
  Site(llvm::IRBuilder<> &b, Registers &registers, const Statement &statement)
      : b(b), registers(registers), statement(statement) {}

  llvm::IRBuilder<> &b;
  Registers &registers;
  const Statement &statement;
  llvm::SmallVector<Type, 4> types;                // the type words, in order
  llvm::SmallVector<llvm::StringRef, 4> modifiers; // the other words behind the row's name

  const Type &type(unsigned i = 0) const { return types[i]; }
  bool has(llvm::StringRef modifier) const { return llvm::is_contained(modifiers, modifier); }
  size_t operandCount() const { return statement.operands.size(); }
  const Operand &operand(size_t i) const { return statement.operands[i]; }

  // The first thing that is wrong, if any; everything below goes on with some value of the right type.
  void refuse(std::string why) { problem = problem.empty() ? std::move(why) : problem; }
  std::string problem;

  /// The low bits of an operand, as an integer of `width` bits. A register may be wider, not narrower.
  llvm::Value *bits(const Operand &operand, unsigned width);
  llvm::Value *bits(size_t i, unsigned width) { return bits(operand(i), width); }
  /// A number known now.
  std::optional<int64_t> constant(const Operand &operand);
  /// An operand's elements, each in its computed type (types.h).
  Elements elements(size_t i, const Type &type) { return unpack(b, number(operand(i), type), type); }
  llvm::Value *value(size_t i, const Type &type) { return elements(i, type)[0]; }
  llvm::Value *predicate(const Operand &operand);

  /// Gives a register an integer of its width, or a narrower one, extended by its sign where `isSigned`.
  void write(const Operand &operand, llvm::Value *bits, bool isSigned = false);
  void writeElements(size_t i, llvm::ArrayRef<llvm::Value *> elements, const Type &type) {
    write(operand(i), pack(b, elements, type), type.isSigned());
  }
  void writeValue(size_t i, llvm::Value *value, const Type &type) { writeElements(i, {value}, type); }

  /// The pointer that "[base + offset]" is: 0 generic, 1 global, 3 shared (whose base is a number of 32 or 64 bits).
  llvm::Value *address(size_t i, unsigned space);

private:
  llvm::Value *number(const Operand &operand, const Type &type);
  llvm::Value *literal(const Operand &operand, const Type &type);
};

/// One line of a table: all instructions whose name starts with `name`, followed by any of `modifiers` and `typeCount`
/// words of `types`.
struct Row {
  llvm::StringRef name;      // "mul.wide"
  llvm::StringRef modifiers; // "rn ftz"
  llvm::StringRef types;     // "f32 f64"
  unsigned typeCount;
  unsigned fewest, most; // operands
  void (*emit)(Site &);
};

/// The tables, a file each.
llvm::ArrayRef<Row> integerRows();
llvm::ArrayRef<Row> bitRows();
llvm::ArrayRef<Row> floatRows();
llvm::ArrayRef<Row> movementRows(); // mov, cvt, selp, setp, cvta
llvm::ArrayRef<Row> memoryRows();   // ld, st, atom, red, fences
llvm::ArrayRef<Row> copyRows();     // cp.async
llvm::ArrayRef<Row> warpRows();     // shuffles, votes, barriers
llvm::ArrayRef<Row> matrixRows();   // ldmatrix, mma

/// The value of "%tid.x" and its kin, null where there is no such register. Sound for one launch on one card: a card is
/// one multiprocessor (smid 0 of nsmid 1).
llvm::Value *specialRegister(llvm::IRBuilder<> &b, llvm::StringRef name);

// For rows whose result and sources are all of one type: `make` is called for each element, with the sources' elements.
using Make = llvm::Value *(*)(Site &, llvm::ArrayRef<llvm::Value *>);
template <Make make> void elementwise(Site &site) {
  const Type &type = site.type();
  llvm::SmallVector<Elements> sources;
  for (size_t i = 1; i < site.operandCount(); ++i)
    sources.push_back(site.elements(i, type));
  Elements results;
  for (unsigned element = 0; element < type.elements; ++element) {
    llvm::SmallVector<llvm::Value *, 3> values;
    for (const Elements &source : sources)
      values.push_back(source[element]);
    results.push_back(make(site, values));
  }
  site.writeElements(0, results, type);
}

} // namespace opsight::cuda::ptx
