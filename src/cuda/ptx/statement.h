// PTX as its text says it: the statements of one asm("…"), parsed and not yet understood. The grammar is the PTX ISA's
// ("Syntax", "Instruction Statements") without what only a whole module can hold: labels, branches, functions,
// variables.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace opsight::cuda::ptx {

struct Operand {
  enum class Kind {
    Register, // "$0", "p", "%tid.x", "!p", "p|q"
    Integer,  // -1, 0x1F, 0b11, 017, 5U
    Single,   // 0f3F800000
    Double,   // 0d3FF0000000000000, 1.5
    Address,  // [name + offset]
    Vector,   // {a, b}
  };
  Kind kind = Kind::Register;
  std::string name{};   // of a register; of an address's base
  std::string second{}; // behind "|"; of an address's offset, where that is a name
  bool negated = false; // "!p"
  uint64_t bits = 0;    // of a number, in two's complement; of an address's offset
  std::vector<Operand> parts{};
};

struct Statement {
  enum class Kind { Instruction, Declaration, Open, Close }; // the last two: "{" and "}"
  Kind kind = Kind::Instruction;
  std::string guard{}; // "p" of "@p" and "@!p"
  bool guardNegated = false;
  std::vector<std::string> words{}; // "add.rn.f32": add, rn, f32; of a declaration its types: ".reg .b32": b32
  std::vector<Operand> operands{};  // of a declaration: the names

  /// "add.rn.f32".
  std::string name() const;
};

/// The statements of `text`, in order; else what is wrong with it, as "'…' where an operand should be".
std::expected<std::vector<Statement>, std::string> parse(std::string_view text);

} // namespace opsight::cuda::ptx
