#include "contender.h"
#include "base/file.h"
#include "cuda/compile.h"
#include "lower/lower.h"
#include "sight/memory_observer.h"
#include "sight/race_observer.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace opsight::bench {

Result<std::unique_ptr<Contender>> Contender::open(const std::string &card, const Options &options) {
  // The profile says with which registers the peak is measured.
  bool isNarrow = card == "cpu" && options.processor == "x86-64-v3";
  auto session = card::Session::open(isNarrow ? "cpu:avx2" : card, {});
  if (!session)
    return std::unexpected(session.error());
  std::unique_ptr<Contender> contender(new Contender(card, options));
  contender->session_ = std::move(*session);
  return contender;
}

Result<card::Artifact> Contender::compile(const Workload &workload) const {
  cuda::CompileRequest request;
  request.file = (dataRoot() / workload.file).string();
  request.kernel = workload.kernel;
  auto module = cuda::compile(request);
  if (!module)
    return std::unexpected(module.error());
  lower::Target target;
  target.block = workload.launch.block;
  if (card_ != "cpu") {
    target.subgroupWidths = {info().subgroupWidths.begin(), info().subgroupWidths.end()};
    target.hasDouble = info().hasDouble;
    target.hasHalf = info().hasHalf;
    return lower::toSpirv(*module, target);
  }
  target.watched = options_.watched;
  target.lanes = options_.lanes;
  target.processor = options_.processor;
  auto artifact = lower::toNative(*module, target);
  if (artifact && !options_.keepFolder.empty()) {
    std::string name = options_.lanes ? fmt::format("{}.{}", workload.kernel, options_.lanes) : workload.kernel;
    std::filesystem::path folder = options_.keepFolder;
    if (Status kept = writeFile(folder / (name + ".so"), artifact->code); !kept)
      return std::unexpected(kept.error());
    if (Status kept = writeFile(folder / (name + ".s"), artifact->readable); !kept)
      return std::unexpected(kept.error());
  }
  return artifact;
}

Result<double> Contender::compileSeconds(const Workload &workload) const {
  auto start = std::chrono::steady_clock::now();
  auto artifact = compile(workload);
  if (!artifact)
    return std::unexpected(artifact.error());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Status Contender::prepare(const Workload &workload) {
  notes_.clear();
  auto artifact = compile(workload);
  if (!artifact)
    return std::unexpected(artifact.error());
  notes_ = artifact->manifest.notes;
  auto program = session_->load(*artifact);
  if (!program)
    return std::unexpected(program.error());
  program_ = *program;
  launch_ = workload.launch;
  arguments_.clear();
  buffers_.clear();
  for (const Operand &operand : workload.operands) {
    buffers_.emplace_back();
    if (!operand.isBuffer) {
      arguments_.push_back(operand.content);
      continue;
    }
    auto buffer = session_->createBuffer(operand.content.size());
    if (!buffer)
      return std::unexpected(buffer.error());
    std::ranges::copy(operand.content, (*buffer)->bytes().begin());
    arguments_.push_back(buffer->get());
    buffers_.back() = std::move(*buffer);
  }
  return {};
}

Result<double> Contender::launch() {
  sight::MemoryObserver memory;
  sight::RaceObserver race;
  card::Observer *observers[] = {&memory, &race};
  if (options_.watched == lower::Watched::Checked)
    return checked();
  auto launched = options_.watched == lower::Watched::Published
                      ? session_->watch(program_, launch_, arguments_, observers)
                      : session_->launch(program_, launch_, arguments_);
  if (!launched)
    return std::unexpected(launched.error());
  if (launched->end != card::Launched::End::Done)
    return noVerdict("the kernel did not end as it should: " + launched->detail);
  return launched->seconds;
}

Result<double> Contender::checked() {
  auto launch = session_->check(program_, launch_, arguments_);
  if (!launch)
    return std::unexpected(launch.error());
  if (launch->launched.end != card::Launched::End::Done)
    return noVerdict("the kernel did not end as it should: " + launch->launched.detail);
  if (!launch->isClean)
    notes_.push_back(std::string(notClean) + launch->why);
  return launch->launched.seconds;
}

static double elementAt(std::span<const std::byte> bytes, size_t i, bool isFloat) {
  float real;
  int32_t whole;
  std::memcpy(&real, &bytes[4 * i], 4);
  std::memcpy(&whole, &bytes[4 * i], 4);
  return isFloat ? real : whole;
}

std::optional<std::string> Contender::mistake(const Workload &workload) const {
  for (size_t n = 0; n < workload.operands.size(); ++n) {
    const Operand &operand = workload.operands[n];
    size_t wrong = 0;
    std::string first;
    for (size_t i = 0; i < operand.want.size(); ++i) {
      double got = elementAt(buffers_[n]->bytes(), i, operand.isFloat), want = operand.want[i];
      if (std::abs(got - want) <= workload.tolerance * std::max(1.0, std::abs(want))) // not so for a NaN
        continue;
      if (++wrong == 1)
        first = fmt::format("element {} of parameter {} is {:.9g}, not {:.9g}", i, n, got, want);
    }
    if (double(wrong) > workload.mayDiffer * double(operand.want.size()))
      return fmt::format("{}; {} of {} elements differ", first, wrong, operand.want.size());
  }
  return {};
}

Result<double> Contender::peakGflops() {
  auto peak = session_->measurePeak();
  if (!peak)
    return std::unexpected(peak.error());
  return peak->gflopsFp32;
}

} // namespace opsight::bench
