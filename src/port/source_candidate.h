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
  std::string text;                              // in place of what the file holds; empty: that
  std::string kernel;
  Launch launch;
  std::map<std::string, Placed> arguments;
  std::map<std::string, Define> defines;
  std::vector<LimitRule> limits;
  std::vector<FurtherLaunch> then{}; // of the same file
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

  /// The module of the first launch that `c` runs, compiled now if no case before asked for it.
  Result<std::shared_ptr<const cuda::Module>> moduleFor(const ops::Case &c) { return moduleOf(kernel.kernel, c); }
  /// Of the launch of `name`.
  Result<std::shared_ptr<const cuda::Module>> moduleOf(const std::string &name, const ops::Case &c);
  /// What the parameters of each launch receive in `c`, in order.
  Result<std::vector<ops::Signature>> signaturesFor(const ops::Case &c);
  const SourceKernel &source() const { return kernel; }
  /// Why `c` is outside [limits], if it is.
  Result<std::optional<std::string>> outsideLimits(const ops::Case &c) const { return outside(symbolsOf(c)); }
  /// Lowers for another card from now on; compiled modules stay.
  void retarget(CardTarget to) {
    target = std::move(to);
    artifacts.clear();
  }
  /// The same candidate, made for the embedded card and lowered to be watched there; compiled modules are shared.
  SourceCandidate underWatch(CardTarget cpu, lower::Watched how = lower::Watched::Published) const {
    SourceCandidate watched = *this;
    watched.retarget(std::move(cpu));
    watched.watching = how;
    return watched;
  }
  /// All artifacts built so far, each with the macro values that it was built for ("D=64").
  struct Built {
    std::string kernel, defines;
    std::shared_ptr<const card::Artifact> artifact;
  };
  std::vector<Built> built() const;
  /// Symbols of `c` together with the indices of its option values.
  Symbols symbolsOf(const ops::Case &c) const;
  Result<std::map<std::string, std::string>> definesOf(const Symbols &symbols) const;
  /// Of the first launch; `of` may be one that follows.
  Result<card::LaunchConfig> launchOf(const Symbols &symbols) const { return launchOf(kernel.launch, symbols); }
  static Result<card::LaunchConfig> launchOf(const Launch &of, const Symbols &symbols);

private:
  using Defines = std::map<std::string, std::string>;
  struct Lowered {
    std::string kernel, key;
    std::shared_ptr<const card::Artifact> artifact;
  };

  Result<std::optional<std::string>> outside(const Symbols &symbols) const;
  Result<std::shared_ptr<const cuda::Module>> compiled(const std::string &name, const Defines &defines);
  Result<std::shared_ptr<const card::Artifact>> lowered(const std::string &name, const Defines &defines, const card::Dim3 &block);
  std::vector<FurtherLaunch> launches() const; // the first, too
  Result<judge::Step> stepFor(const FurtherLaunch &of, const Defines &defines, const Symbols &symbols, const ops::Options &options);
  std::vector<std::string> heardElsewhere() const;

  const ops::Operator &op;
  SourceKernel kernel;
  CardTarget target;
  lower::Watched watching = lower::Watched::No;
  std::map<std::pair<std::string, Defines>, std::shared_ptr<const cuda::Module>> modules; // by kernel and macros
  std::map<std::string, Lowered> artifacts; // by kernel, macros and block
};

/// What each parameter of `kernel` receives under `said`; errors point at the kernel.
Result<ops::Signature> boundTo(const ops::Operator &op, const cuda::Kernel &kernel, const std::map<std::string, Placed> &said,
                               const ops::Options &options);

/// The kernel's parameters as the binding sees them; Unsupported for a type that no tensor has.
Result<std::vector<ops::ParameterView>> viewsOf(const cuda::Kernel &kernel);

} // namespace opsight::port
