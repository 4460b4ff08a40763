// Operations of the IR on words: integers of up to 64 bits, floats and doubles as their bits. Nothing is returned for
// what has no meaning or is not known.
#pragma once
#include <cstdint>
#include <llvm/ADT/APInt.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <optional>
#include <span>

namespace opsight::fuzz {

double realOf(uint64_t word, unsigned bits);
std::optional<uint64_t> binary(unsigned opcode, uint64_t a, uint64_t b, unsigned bits);
std::optional<uint64_t> converted(unsigned opcode, uint64_t word, unsigned from, unsigned to);
bool compare(llvm::CmpInst::Predicate predicate, const llvm::APInt &a, const llvm::APInt &b);
bool compareReals(llvm::CmpInst::Predicate predicate, double a, double b);
/// What an atomic operation leaves in memory.
std::optional<uint64_t> modified(llvm::AtomicRMWInst::BinOp operation, uint64_t old, uint64_t operand, unsigned bits);
/// An intrinsic without effects, on operands of `bits` with a result of `resultBits`.
std::optional<uint64_t> function(llvm::Intrinsic::ID id, std::span<const uint64_t> operands, unsigned bits,
                                 unsigned resultBits);

} // namespace opsight::fuzz
