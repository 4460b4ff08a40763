// Runs a kernel of one launch under watch, on the whole way of the cpu card.
#pragma once
#include "base/file.h"
#include "card/session.h"
#include "card/watch.h"
#include "lower/native_run.h"
#include "sight/memory_observer.h"
#include "sight/race_observer.h"
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opsight::sight {

struct Planted {
  std::string cuda; // one kernel; its pointers get buffers of `words` ints
  card::Dim3 block{32, 1, 1}, grid{};
  uint64_t words = 64;
  uint64_t shared = 0;
  bool initialised = true;
  int optimization = 3;
  bool isBeyondChecks = false; // right, and yet suspicious to the checks, as the test says why
};

/// Line 1 is the first of `run.cuda`.
class Watched : public testing::Test {
protected:
  /// Under observers, and under checks, which must be suspicious wherever observers find something, and nowhere else
  /// unless the test has said so.
  void run(const Planted &run) {
    both(run);
    bool isClean = found.empty() && launched.end == card::Launched::End::Done;
    if (isClean && run.isBeyondChecks)
      EXPECT_FALSE(checked.isClean) << "it need not be called so";
    else
      EXPECT_EQ(checked.isClean, isClean) << checked.why;
  }
  void both(const Planted &run) {
    static auto opened = card::Session::open("cpu", {.runTimeout = std::chrono::milliseconds(10'000)});
    ASSERT_TRUE(opened) << describe(opened.error());
    card::Session &session = **opened;
    auto staged = stage(session, run, lower::Watched::Published);
    ASSERT_TRUE(staged) << describe(staged.error());
    memory.emplace();
    race.emplace();
    std::vector<card::Observer *> observers{&*memory, &*race};
    observers.insert(observers.end(), more.begin(), more.end());
    auto result = session.watch(staged->program, staged->config, staged->arguments, observers);
    ASSERT_TRUE(result) << describe(result.error());
    launched = *result;
    found.clear();
    for (const Finding &finding : memory->findings())
      found.push_back(finding);
    for (const Finding &finding : race->findings())
      found.push_back(finding);
    auto again = stage(session, run, lower::Watched::Checked);
    ASSERT_TRUE(again) << describe(again.error());
    auto looked = session.check(again->program, again->config, again->arguments);
    ASSERT_TRUE(looked) << describe(looked.error());
    checked = *looked;
  }

  /// "race:12 …", one a finding; "benign race:12 …".
  std::vector<std::string> faults() const {
    std::vector<std::string> lines;
    for (const Finding &finding : found)
      lines.push_back(
          fmt::format("{}{}:{} {}", finding.isBenign ? "benign " : "", finding.kind, finding.where.line, finding.what));
    return lines;
  }

  std::vector<double> counts() const {
    std::vector<double> all;
    for (const Finding &finding : found)
      all.push_back(finding.evidence.at("count"));
    return all;
  }

  std::optional<MemoryObserver> memory;
  std::optional<RaceObserver> race;
  std::vector<card::Observer *> more;
  std::vector<Finding> found;
  card::Launched launched;
  card::CheckedLaunch checked;

private:
  struct Staged {
    card::ProgramId program = 0;
    card::LaunchConfig config;
    std::vector<std::unique_ptr<card::Buffer>> buffers{};
    std::vector<card::Argument> arguments{};
  };
  static Result<Staged> stage(card::Session &session, const Planted &run, lower::Watched how) {
    lower::Target target;
    target.block = run.block;
    target.watched = how;
    auto artifact = lower::compileText(run.cuda, target, run.optimization);
    if (!artifact)
      return std::unexpected(artifact.error());
    auto program = session.load(*artifact);
    if (!program)
      return std::unexpected(program.error());
    Staged staged{*program, {.grid = run.grid, .block = run.block, .dynamicSharedBytes = run.shared}};
    for (const card::Parameter &parameter : artifact->manifest.parameters) {
      if (parameter.kind == card::Parameter::Kind::Buffer) {
        staged.buffers.push_back(std::move(*session.createBuffer(run.words * 4)));
        std::ranges::fill(staged.buffers.back()->bytes(), std::byte{0});
        staged.buffers.back()->isInitialised = run.initialised;
        staged.arguments.push_back(staged.buffers.back().get());
      } else if (parameter.kind == card::Parameter::Kind::Scalar) {
        int n = int(run.words);
        std::vector<std::byte> bytes(sizeof n);
        std::memcpy(bytes.data(), &n, sizeof n);
        staged.arguments.push_back(bytes);
      }
    }
    return staged;
  }
};

} // namespace opsight::sight
