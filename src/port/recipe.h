// Proposer "recipe": kernels of our own (kernels/*/*.toml with a section [recipe]), with the engineer's hints as their
// parameters. What hints leave free is ordered by the kernel's own model, for the tuner to measure.
#pragma once
#include "port/source_candidate.h"

namespace opsight::port {

/// Hints that say how the kernel is built, not how it is judged.
bool shapesKernel(const Hint &hint);

/// A kernel with parameters, and which of their values to try.
struct Proposal {
  std::string name, proposer;              // "recipe/flash_simd", "recipe"
  std::shared_ptr<const Request> declared; // its own port file
  unsigned lanes = 0;                      // floats of one vector register of the card; 0: the kernel does not ask
  Symbols fixed{};                         // by hints
  Symbols first{};                         // what is judged first
  std::vector<Symbols> others{};           // worth measuring, the best by the model first
  bool isLate = false;                     // measured only once the source is right, from which it differs little
  size_t leftOut = 0;                      // combinations that the model or the card's shared memory ruled out

  SourceKernel kernelWith(const Symbols &values) const;
};

/// Where a model's figures come from: the case that is timed, and the card.
struct TuningGround {
  const card::Profile &profile;
  Symbols sample; // of the case, options included
};

/// The first recipe for the request's operator, of the mapping that was asked for or is the card's own, that keeps the
/// hints. Unsupported, naming hint and limit, when none does.
Result<Proposal> proposeRecipe(const Request &request, const TuningGround &ground);
/// The request's own kernel with the parameters that it declares.
Proposal proposeSource(const Request &request, const TuningGround &ground);
} // namespace opsight::port
