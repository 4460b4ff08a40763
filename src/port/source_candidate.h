// A candidate that is CUDA source and a launch: compiled for each distinct value of its macros, lowered to the card's
// IR, both kept for the cases that share them.
#pragma once
#include "card/profile.h"
#include "cuda/module.h"
#include "judge/candidate.h"
#include "lower/lower.h"
#include "port/request.h"

namespace opsight::port {

/// What a candidate is made of; expressions may also name the operator's options (the index of the value: `causal` is
/// 0, 1, 2).
struct SourceKernel {
  std::string name, proposer;                    // "faithful"; "recipe/flash_simd"
  std::map<std::string, std::string> parameters; // "tile": "64x64"
  std::filesystem::path file;
  std::string kernel;
  Launch launch;
  std::map<std::string, Placed> arguments;
  std::map<std::string, Define> defines;
  std::vector<LimitRule> limits;
};

/// The user's kernel, unchanged.
SourceKernel faithful(const Request &request);

/// The card that code is lowered for.
struct CardTarget {
  card::Profile profile;
  card::DeviceInfo device;
};

class SourceCandidate final : public judge::Candidate {
public:
  SourceCandidate(const ops::Operator &op, SourceKernel kernel, CardTarget target);

  std::string name() const override { return kernel.name; }
  std::string proposer() const override { return kernel.proposer; }
  std::map<std::string, std::string> parameters() const override { return kernel.parameters; }
  Result<std::variant<judge::Build, judge::OutsideLimits>> prepare(const ops::Case &c) override;

  /// The module that `c` runs, compiled now if no case before asked for it.
  Result<std::shared_ptr<const cuda::Module>> moduleFor(const ops::Case &c);
  const SourceKernel &source() const { return kernel; }
  /// Why `c` is outside [limits], if it is.
  Result<std::optional<std::string>> outsideLimits(const ops::Case &c) const { return outside(symbolsOf(c)); }
  /// Lowers for another card from now on; compiled modules stay.
  void retarget(CardTarget to) {
    target = std::move(to);
    artifacts.clear();
  }
  /// All artifacts built so far, each with the macro values that it was built for ("D=64").
  struct Built {
    std::string defines;
    std::shared_ptr<const card::Artifact> artifact;
  };
  std::vector<Built> built() const;
  /// Symbols of `c` together with the indices of its option values.
  Symbols symbolsOf(const ops::Case &c) const;
  Result<std::map<std::string, std::string>> definesOf(const Symbols &symbols) const;
  Result<card::LaunchConfig> launchOf(const Symbols &symbols) const;

private:
  using Defines = std::map<std::string, std::string>;
  struct Lowered {
    std::string key;
    std::shared_ptr<const card::Artifact> artifact;
  };

  Result<std::optional<std::string>> outside(const Symbols &symbols) const;
  Result<std::shared_ptr<const cuda::Module>> compiled(const Defines &defines);
  Result<std::shared_ptr<const card::Artifact>> lowered(const Defines &defines, const card::Dim3 &block);
  std::vector<std::string> heardElsewhere() const;

  const ops::Operator &op;
  SourceKernel kernel;
  CardTarget target;
  std::map<Defines, std::shared_ptr<const cuda::Module>> modules;
  std::map<std::string, Lowered> artifacts; // by defines and block
};

/// The kernel's parameters as the binding sees them; Unsupported for a type that no tensor has.
Result<std::vector<ops::ParameterView>> viewsOf(const cuda::Kernel &kernel);

} // namespace opsight::port
