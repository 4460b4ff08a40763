// operator = "none": a kernel without an operator. Its sizes and buffers are declared by the user, its right outputs come
// from an oracle: a plain function, or the original kernel on another card.
//
// The pieces: declared.cpp (what is declared, and its cases), declared_data (fills and files), declared_binding (which
// parameter receives what).
#pragma once
#include "operator/binding.h"
#include <filesystem>

namespace opsight::ops {

/// A type as a port file names it.
struct BufferType {
  std::string name; // "float", "unsigned int"
  ElementType element = ElementType::Float32;
  enum class Values { Real, Signed, Unsigned, Truth } values = Values::Real;
};
/// All types that buffers may have; halves are not among them yet.
const std::vector<BufferType> &bufferTypes();

/// What a buffer holds before the kernel runs. Poison: what no kernel would write, another at each run.
enum class Fill { Normal, Uniform, Zero, Iota, Poison, File };
/// "normal" … "poison"; a file has no name here.
const std::vector<std::pair<std::string, Fill>> &fillNames();

struct DeclaredSymbol {
  std::string name;
  std::vector<int64_t> values; // one case for each, in all combinations
  SourcePlace where{};
};

struct DeclaredBuffer {
  std::string name;
  BufferType type;
  std::string count;           // an expression over the symbols: elements
  Fill fill = Fill::Normal;
  std::filesystem::path file{}; // of Fill::File, a .npy whose type and count must be the buffer's
  TensorInfo::Role role = TensorInfo::Role::Input; // InOut wherever an output begins with anything but poison; a scratch may
  SourcePlace where{};
};

/// Who knows the right outputs.
class Oracle {
public:
  virtual ~Oracle() = default;
  /// Every output by name, for what the buffers begin with. Of double where the buffer is float, if it computes so.
  virtual Result<std::map<std::string, Tensor>> outputs(const Case &c, const Problem &problem) = 0;
};

class Declared final : public Operator {
public:
  /// A user error for more than `mostCases` combinations, a count that is negative or has no value, buffers that need more
  /// memory than a case may take, or no output.
  static Result<std::shared_ptr<Declared>> create(std::vector<DeclaredSymbol> symbols, std::vector<DeclaredBuffer> buffers);
  static constexpr size_t mostCases = 64; // of different sizes; where data are random, each with three seeds

  const std::vector<DeclaredBuffer> &buffers() const { return declaredBuffers; }
  const std::vector<DeclaredSymbol> &declaredSymbols() const { return symbolRows; }
  const DeclaredBuffer *buffer(const std::string &name) const;
  void answerWith(std::shared_ptr<Oracle> who) { oracle = std::move(who); }

  std::string_view name() const override { return "none"; }
  std::string_view summary() const override { return "a kernel without an operator"; }
  const std::vector<std::string> &symbols() const override { return symbolNames; }
  std::string symbolHelp(const std::string &) const override { return "declared under [symbols]"; }
  const std::vector<TensorInfo> &tensors() const override { return tensorInfos; }
  const std::vector<ScalarInfo> &scalars() const override { return scalarInfos; }
  const std::vector<OptionInfo> &options() const override { return noOptions; }
  std::vector<Case> cases(const Options &) const override { return ownCases; }
  bool isDeclared() const override { return true; }
  /// Symbols left out take their first declared value.
  Result<Case> completeCase(Case partial, uint64_t maxBytes = 8ull << 30) const override;
  Case speedCase(const Options &) const override { return ownCases.back(); }
  /// An internal error without an oracle.
  Result<Problem> make(const Case &c, uint64_t seed) const override;
  Work work(const Case &) const override { return {}; }
  /// "unchanged", "neighbour" or "values", with how many elements differ and between which.
  Diagnosis diagnose(const Case &c, const Problem &problem, const std::map<std::string, Tensor> &output,
                     const std::string &tensor, int64_t worst) const override;

private:
  Status combine();

  std::vector<DeclaredSymbol> symbolRows;
  std::vector<DeclaredBuffer> declaredBuffers;
  std::shared_ptr<Oracle> oracle;
  std::vector<std::string> symbolNames;
  std::vector<TensorInfo> tensorInfos;
  std::vector<ScalarInfo> scalarInfos;
  std::vector<OptionInfo> noOptions;
  std::vector<Case> ownCases;
};

/// What `buffer` begins with: `count` elements, the same for the same seed. A user error for a file that cannot be read or
/// holds something else.
Result<Tensor> fillOf(const DeclaredBuffer &buffer, int64_t count, uint64_t seed);

/// One Bound a parameter, in order, by [arguments], else by the very name of a buffer or symbol. User error, with the nearest
/// name, for a parameter that nothing is said of, and for a pointer whose type is not its buffer's.
Result<std::vector<Bound>> bindDeclared(const Declared &op, std::span<const ParameterView> parameters,
                                        const std::map<std::string, std::string> &arguments);

} // namespace opsight::ops
