// Figures recorded on another card: a TOML file that every run with a speed leaves beside its verdict, and that a port
// to another card takes as its reference (docs/figures.md).
#pragma once
#include "judge/candidate.h"
#include "judge/verdict.h"
#include <filesystem>
#include <map>

namespace opsight::port {

/// What was timed, where, and by whom; free text but for the operator.
struct FiguresHead {
  std::string operatorName, kernel, card, device, source;
};

/// A reference that is known by its times alone.
class RecordedReference final : public judge::Candidate {
public:
  struct Figure {
    ops::Case c;
    double seconds = 0;
  };
  RecordedReference(FiguresHead head, std::vector<Figure> figures, std::string file);

  /// "flash_forward on h100 (NVIDIA H100), recorded in h100.toml"
  std::string name() const override;
  std::string proposer() const override { return "recorded"; }
  /// Nothing runs here; a case without a figure is outside what it takes.
  Result<std::variant<judge::Build, judge::OutsideLimits>> prepare(const ops::Case &c) override;
  std::optional<double> recordedSeconds(const ops::Case &c) const override;
  const FiguresHead &about() const { return head; }
  /// A user error that names the first of `cases` without a figure, and the shapes that the file has.
  Status covers(std::span<const ops::Case> cases) const;

private:
  FiguresHead head;
  std::vector<Figure> figures;
  std::string file;
};

/// Reads and checks the file; each mistake is a user error at its place. `where` is who named the file.
Result<std::unique_ptr<RecordedReference>> readFigures(const ops::Operator &op, const std::filesystem::path &file,
                                                       SourcePlace where);

/// The file of `speed`'s own times, for use as a reference elsewhere.
std::string figuresText(const FiguresHead &head, const judge::Speed &speed);

/// The same of a judged candidate, dated today; empty where it was not right or not timed. `run` says what measured it.
std::string figuresOf(const judge::Verdict &verdict, const std::string &kernel, const std::string &card,
                      const std::string &run);

} // namespace opsight::port
