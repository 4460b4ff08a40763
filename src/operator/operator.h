// What an operator means: its symbols, options, tensors, cases that break kernels, a double-precision reference, and
// the operations and bytes it costs. One folder an operator, with its backward; the registry is the only list.
#pragma once
#include "base/error.h"
#include "base/expression.h"
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace opsight::ops {

enum class ElementType { Float32, Float64, Float16, BFloat16, Int32, Int64, UInt8 };
size_t sizeOf(ElementType type);
std::string_view nameOf(ElementType type); // "float", "double", "half", "bfloat16", "int", "int64", "unsigned char"

/// A dense row-major tensor in the element type the kernel sees.
struct Tensor {
  ElementType type = ElementType::Float32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  int64_t count() const;
  /// The element at flat index `at`, as near as a double comes.
  double valueAt(int64_t at) const;
  template <class T> std::span<T> as() { return {reinterpret_cast<T *>(bytes.data()), bytes.size() / sizeof(T)}; }
  template <class T> std::span<const T> as() const {
    return {reinterpret_cast<const T *>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

/// Option values by name, e.g. {"causal": "top-left", "mask": "none"}.
using Options = std::map<std::string, std::string>;

/// One concrete problem.
struct Case {
  std::string name;              // "peaked L=1023"
  Symbols symbols;               // sizes, complete
  Options options;               // complete
  std::map<std::string, double> scalars{}; // named ones that are not what the operator says ("scale", "eps")
  std::string distribution = "normal";
  uint64_t seed = 1;
  /// One of the operator's own cases: a launch of it that is over the card's limits is not tried instead of wrong.
  bool own = false;
  std::string note{};            // why it is here, with the public report it comes from ("S05: …")
  /// How the inputs are made beyond the distribution, by the operator's own names ("mask": "sliding").
  std::map<std::string, std::string> traits{};
};

struct TensorInfo {
  std::string name;              // "query"
  std::vector<std::string> shape; // symbols, or expressions over them
  /// InOut: an output that begins with what make() says. Scratch: the kernel's to write, and compared with nothing.
  enum class Role { Input, Output, InOut, Scratch } role = Role::Input;
  bool isCompared() const { return role == Role::Output || role == Role::InOut; }
  bool optional = false;         // present only under an option (mask), or only where the kernel has it (lse)
  std::vector<std::string> spellings; // parameter names that bind to it by themselves, lower case
  ElementType element = ElementType::Float32; // of outputs
  /// Present, and then wanted of every kernel, exactly where this option has one of these values.
  struct When {
    std::string option;
    std::vector<std::string> values;
    bool holds(const Options &options) const;
  };
  std::optional<When> when{};
};
/// The extents of a tensor under `symbols`; an error where an expression has no value.
Result<std::vector<int64_t>> extentsOf(const TensorInfo &info, const Symbols &symbols);

/// A number that kernels receive: a size, which is an expression over symbols; or one that the operator is asked for with
/// scalarOf(), real or whole.
struct ScalarInfo {
  std::string name;              // "L", "scale", "causal"
  std::vector<std::string> spellings;
  enum class Kind { Size, Real, Whole } kind = Kind::Size;
  std::string of{};              // which to ask for, where it is another than `name` ("scale" for "scale_log2") …
  double factor = 1;             // … and what to multiply it with
};

/// A name that could be either of two sizes. A kernel that calls only one so takes the two for equal, unless such a name is
/// always asked about.
struct SharedSize {
  std::vector<std::string> spellings; // "n", "seq_len"
  std::string first, second;          // "L", "S": which it could be
  std::string either, both;           // "the number of queries or of keys", "is one length for queries and keys"
  bool alwaysAsked = false;
};

/// What must hold of a case for a kernel to be asked at all: `left` and `right` are expressions of equal value.
struct Requirement {
  std::string left, right;
  std::string why; // "n is one length for queries and keys"
};

struct OptionInfo {
  std::string name;
  std::vector<std::string> values; // the first is the default
  std::string help;
};

/// The inputs of a case and its right outputs in double precision.
struct Problem {
  std::map<std::string, Tensor> inputs;               // by tensor name; also what an InOut begins with
  std::map<std::string, std::vector<double>> outputs; // by tensor name, row-major
  std::map<std::string, Tensor> exact{};              // beside `outputs`, those of integers: to be matched bit for bit
  /// Of outputs whose scale is another than 1 (a softmax of many columns, a gradient through a division by a deviation): the
  /// magnitude that errors are held against where the element itself is smaller; one for each of so many
  /// equal parts (rows, or elements).
  std::map<std::string, std::vector<double>> magnitudes{};
  /// Errors of a plain single-precision evaluation of these very data by the judge's metric, largest and root mean square
  /// over the operator's outputs (over a sample of their rows where there are very many).
  double plainError = 0, plainRms = 0;

  /// Measured, not declared: whether single precision, evaluated plainly, can hold these data's answer at all.
  bool wellConditioned() const { return plainError <= 2e-6; }
};

/// A problem as one kernel sees it: operands broadcast as far as the kernel does not stride them itself, and the
/// values of every symbol that a scalar parameter may ask for (sizes and strides).
struct Presented {
  std::map<std::string, Tensor> inputs;
  Symbols symbols;
};

/// Operations and bytes of the operator. `flops` counts causal attention dense; `leastFlops` are those that no kernel can
/// avoid (keys behind the diagonal and under a mask left out), for telling an impossible speed.
struct Work {
  double flops = 0, leastFlops = 0, bytes = 0;
};

/// Where in the operator a wrong output comes from, found by comparing it with known ways to go wrong.
struct Diagnosis {
  std::string phase;   // "maximum", "sum", "normalise", "mask", "indexing", … of the operator's own steps
  std::string because; // the evidence, with figures
};

class Operator {
public:
  virtual ~Operator() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  virtual const std::vector<std::string> &symbols() const = 0; // names, with what they mean in symbolHelp
  virtual std::string symbolHelp(const std::string &symbol) const = 0;
  virtual const std::vector<TensorInfo> &tensors() const = 0;
  virtual const std::vector<ScalarInfo> &scalars() const = 0;
  virtual const std::vector<OptionInfo> &options() const = 0;

  /// The operator's own cases under `options` (complete): at least 40 over all options together.
  virtual std::vector<Case> cases(const Options &options) const = 0;
  /// Whether another value of any input must change the first output in `c`.
  virtual bool hearsEveryInput(const Case &) const { return false; }
  /// Whether the sizes and buffers were declared by the user (operator = "none"): then kernels have no common spellings, and
  /// need not receive every tensor.
  virtual bool isDeclared() const { return false; }
  /// `partial` with the default of every option that it leaves out; a user error names the nearest option or value.
  Result<Options> completeOptions(const Options &partial) const;
  /// Completes and checks a user's case: defaults, sizes ≥ 0, memory under `maxBytes`.
  virtual Result<Case> completeCase(Case partial, uint64_t maxBytes = 8ull << 30) const = 0;
  /// Which shape speed is measured at when the user gives none.
  virtual Case speedCase(const Options &options) const = 0;

  /// Inputs from the case's distribution with `seed` in place of the case's own, and the right outputs.
  virtual Result<Problem> make(const Case &c, uint64_t seed) const = 0;
  /// `problem` for a kernel whose scalar parameters mention `heard`.
  virtual Presented present(const Case &c, const Problem &problem, const std::vector<std::string> &heard) const {
    return {problem.inputs, c.symbols};
  }
  /// The value in `c` of a scalar that is no size; none where the operator has no such scalar.
  virtual std::optional<double> scalarOf(const Case &, const std::string &) const { return std::nullopt; }
  /// The element type of a tensor under `options`.
  virtual ElementType elementOf(const TensorInfo &tensor, const Options &) const { return tensor.element; }
  virtual const std::vector<SharedSize> &sharedSizes() const;
  /// What follows from symbols that a kernel never hears of: it hears of those in `heard`, by parameters, macros or launch.
  virtual std::vector<Requirement> impliedBy(const std::set<std::string> &heard) const { return {}; }
  virtual Work work(const Case &c) const = 0;
  /// Explains a wrong `output` (tensor name to what the kernel wrote) at flat index `worst` of tensor `tensor`.
  virtual Diagnosis diagnose(const Case &c, const Problem &problem, const std::map<std::string, Tensor> &output,
                             const std::string &tensor, int64_t worst) const = 0;
};

/// "8192", the whole mebibytes of a number that may be absurd.
std::string mebibytes(double bytes);

/// The registry. `findOperator` is a user error that names the nearest known operator.
const std::vector<const Operator *> &allOperators();
Result<const Operator *> findOperator(const std::string &name);

} // namespace opsight::ops
