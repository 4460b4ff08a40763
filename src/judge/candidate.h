// What the judge judges: something that can be built for a case. It does not know who proposed it.
#pragma once
#include "card/artifact.h"
#include "card/session.h"
#include "operator/binding.h"
#include "operator/operator.h"
#include <memory>

namespace opsight::judge {

/// One launch.
struct Step {
  std::shared_ptr<const card::Artifact> artifact; // same pointer for the same code: the judge loads it once
  card::LaunchConfig launch;
  std::vector<ops::Bound> arguments;              // one for each Buffer and Scalar parameter, in order
  std::vector<ops::ParameterView> parameters;     // beside them
};

/// A candidate made ready for one case: its launch, and those that follow it on the same buffers, in order.
struct Build : Step {
  std::vector<ops::Requirement> requirements{};   // of ops::impliedRequirements; a case that breaks one is not tried
  std::vector<Step> then{};

  std::vector<const Step *> steps() const {
    std::vector<const Step *> all{this};
    for (const Step &step : then)
      all.push_back(&step);
    return all;
  }
};

/// Why a case is outside what the candidate says it takes; counted as not tried.
struct OutsideLimits {
  std::string why;
};

class Candidate {
public:
  virtual ~Candidate() = default;
  virtual std::string name() const = 0;      // "faithful", "recipe/flash_simd"
  virtual std::string proposer() const = 0;  // "faithful", "recipe", "agent", "vendor"
  virtual std::map<std::string, std::string> parameters() const { return {}; } // "tile": "64x64"
  /// Compiles, lowers and evaluates launch expressions for `c`; caches by what really differs.
  virtual Result<std::variant<Build, OutsideLimits>> prepare(const ops::Case &c) = 0;
  /// Of a reference that was timed on another card and cannot run here: its seconds for `c`.
  virtual std::optional<double> recordedSeconds(const ops::Case &) const { return std::nullopt; }
};

} // namespace opsight::judge
