// One machine in the comparison: a card, opened once, that takes one workload after the other.
#pragma once
#include "lower/lower.h"
#include "workload.h"
#include <memory>
#include <optional>

namespace opsight::bench {

struct Options {
  unsigned lanes = 0;                // of the cpu card; 0: as warp_width chooses
  std::string processor = "native";  // of the cpu card
  std::string keepFolder{};          // where artifacts of the cpu card are left; empty: nowhere
  lower::Watched watched = lower::Watched::No; // on the cpu card; Published: with the observers of faults
};

/// What a note begins with that says why a checked launch has to be published, too.
inline constexpr const char *notClean = "not clean: ";

class Contender {
public:
  /// `card` is "cpu", "opencl:pocl" or "opencl:intel". NoVerdict when it has no device here.
  static Result<std::unique_ptr<Contender>> open(const std::string &card, const Options &options);

  const card::DeviceInfo &info() const { return session_->info(); }
  /// Compiles `workload`'s kernel for this card through our own front end, and fills its buffers.
  Status prepare(const Workload &workload);
  /// Seconds from the source to code for this card: as it stands, that is from the cache where it is known there.
  Result<double> compileSeconds(const Workload &workload) const;
  /// What our translation says of the kernel last prepared.
  const std::vector<std::string> &notes() const { return notes_; }
  /// One launch; seconds of the kernel alone, as the card's worker measures them. Whatever does not end is an error.
  Result<double> launch();
  /// What is wrong with the outputs of the only launch since `prepare`, in words; none when they are right.
  std::optional<std::string> mistake(const Workload &workload) const;
  /// Of the processor, now: the most GFLOP/s in single precision.
  Result<double> peakGflops();

private:
  Contender(std::string card, Options options) : card_(std::move(card)), options_(std::move(options)) {}
  Result<card::Artifact> compile(const Workload &workload) const;
  Result<double> checked();

  std::string card_;
  Options options_;
  std::unique_ptr<card::Session> session_;
  card::ProgramId program_ = 0;
  card::LaunchConfig launch_;
  std::vector<std::string> notes_;
  std::vector<std::unique_ptr<card::Buffer>> buffers_; // by operand; null for scalars
  std::vector<card::Argument> arguments_;
};

} // namespace opsight::bench
