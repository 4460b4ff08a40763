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
};

/// Line 1 is the first of `run.cuda`.
class Watched : public testing::Test {
protected:
  void run(const Planted &run) {
    static auto opened = card::Session::open("cpu", {.runTimeout = std::chrono::milliseconds(10'000)});
    ASSERT_TRUE(opened) << describe(opened.error());
    card::Session &session = **opened;
    lower::Target target;
    target.block = run.block;
    target.watched = true;
    auto artifact = lower::compileText(run.cuda, target, run.optimization);
    ASSERT_TRUE(artifact) << describe(artifact.error());
    auto program = session.load(*artifact);
    ASSERT_TRUE(program) << describe(program.error());
    std::vector<std::unique_ptr<card::Buffer>> buffers;
    std::vector<card::Argument> arguments;
    for (const card::Parameter &parameter : artifact->manifest.parameters) {
      if (parameter.kind == card::Parameter::Kind::Buffer) {
        buffers.push_back(std::move(*session.createBuffer(run.words * 4)));
        std::ranges::fill(buffers.back()->bytes(), std::byte{0});
        buffers.back()->isInitialised = run.initialised;
        arguments.push_back(buffers.back().get());
      } else if (parameter.kind == card::Parameter::Kind::Scalar) {
        int n = int(run.words);
        std::vector<std::byte> bytes(sizeof n);
        std::memcpy(bytes.data(), &n, sizeof n);
        arguments.push_back(bytes);
      }
    }
    memory.emplace();
    race.emplace();
    std::vector<card::Observer *> observers{&*memory, &*race};
    observers.insert(observers.end(), more.begin(), more.end());
    auto result = session.watch(*program, {.grid = run.grid, .block = run.block, .dynamicSharedBytes = run.shared},
                                arguments, observers);
    ASSERT_TRUE(result) << describe(result.error());
    launched = *result;
    found.clear();
    for (const Finding &finding : memory->findings())
      found.push_back(finding);
    for (const Finding &finding : race->findings())
      found.push_back(finding);
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
};

} // namespace opsight::sight
