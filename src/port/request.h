// What the user asked for, in one value: a port file, or a .cu with options that say the same, ends up here.
#pragma once
#include "operator/declared.h"
#include <filesystem>

namespace opsight::port {

/// A text with the place it was written at, so that later errors can point there.
struct Placed {
  std::string text;
  SourcePlace where{};
};

/// A macro: an expression over the operator's symbols (the kernel is built anew for each value), or text as it is.
struct Define {
  Placed value;
  bool isExpression = false;
};

/// `expression` must take one of `values`; cases where it does not are counted as not tried.
struct LimitRule {
  Placed expression;
  std::vector<int64_t> values;
};

/// What may be varied of a kernel: a number that its template arguments, launch and macros name.
struct Parameter {
  std::string name;
  int64_t value = 0;           // unless a hint or the tuner says otherwise
  std::vector<int64_t> search{}; // what is worth measuring, where no hint fixes it
  std::string hint{};          // the part of a hint that fixes it: "tile.rows", "tile.columns", "reduce-stride"; empty: none
  std::vector<Placed> must{};  // expressions over the parameters that hold (are not 0) for the kernel to be right
  std::string why{};           // what `must` means, for an engineer whose hint breaks it
};

/// What makes a port file a recipe: how its tile lives on a card, the layouts it keeps, and what the tuner's model needs.
struct RecipeFacts {
  std::string mapping;                      // "simd" or "simt"
  std::map<std::string, std::string> keeps; // hint to the only layout that it keeps: "kv" to "row-major"
  Placed operations, workingSet;            // of the whole operator in modelled operations; of a block's inner loop in bytes
};

/// A constraint of the engineer, "tile" = "64x64"; `said` is the sentence or option it was understood from.
struct Hint {
  std::string key, value, said;
  SourcePlace where{};
};

/// One part of an ask and how it was understood.
struct Understood {
  enum class As { Demand, Hint, Reason } as = As::Demand;
  std::string said;    // the part, as the user wrote it
  std::string meaning; // what Opsight makes of it
};

struct Launch {
  std::vector<Placed> grid, block; // one to three expressions each
  Placed shared{"0"};              // dynamic shared memory, bytes
};

/// A launch after the first, on the same buffers.
struct FurtherLaunch {
  std::string kernel;
  Launch launch;
  std::map<std::string, Placed> arguments;
};

/// Of operator = "none": who knows the right outputs.
struct DeclaredReference {
  std::filesystem::path source; // of a plain function; empty: the original, the same kernel on the embedded card
  std::string function;
  std::map<std::string, Placed> arguments; // parameter of the function to what it receives
  SourcePlace where{};
  bool isSaid = false;
};

/// What is accepted; none: not said, then the default of the operator's judge.
struct Accept {
  std::optional<double> maxError, minSpeed;
  std::optional<Placed> reference; // "vendor", "source", or the path of a file of recorded figures
  bool accuracyOnly = false;
};

struct Request {
  std::filesystem::path file; // the port file, or the .cu itself
  const ops::Operator *op = nullptr;
  std::shared_ptr<ops::Declared> declared; // `op`, where it is "none"
  DeclaredReference reference;             // then
  std::filesystem::path source;
  std::string sourceText; // compiled in place of what the file holds; empty: that
  std::string kernel, card;
  Launch launch;
  std::map<std::string, Placed> arguments; // kernel parameter to what it receives
  std::vector<FurtherLaunch> then;
  std::map<std::string, Define> defines;
  std::vector<LimitRule> limits;
  std::vector<Parameter> parameters;
  std::optional<RecipeFacts> recipe; // only files of the kernel library are
  ops::Options options; // complete once `finish` has run
  Accept accept;
  std::vector<Placed> asks;
  std::vector<Hint> hints;
  std::vector<Understood> understood;
  std::vector<ops::Case> cases; // the user's own, complete
  std::string mapping;          // "simt", "simd"; empty: the card's own
  std::optional<uint64_t> seed;
  double timeoutSeconds = 30; // of one kernel run
  double tuneSeconds = 60;    // that the tuner may take
  bool retune = false;        // search anew, whatever the record says
};

inline constexpr double defaultMaxError = 1e-5, defaultMinSpeed = 0.70;

} // namespace opsight::port
