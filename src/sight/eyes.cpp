#include "sight/eyes.h"
#include <algorithm>
#include <charconv>
#include <filesystem>

namespace opsight::sight {

Eyes::Eyes(const card::Profile &profile, MemoryObserver &memory)
    : banks({uint32_t(profile.figure("shared_banks").value_or(32)),
             uint32_t(profile.figure("shared_bank_bytes").value_or(4))}),
      coalescing(uint32_t(profile.figure("sector_bytes").value_or(32))), memory(memory) {}

std::vector<card::Observer *> Eyes::all() { return {&banks, &coalescing, &counts, &race, &memory}; }

void Eyes::tell(Seen &seen, const card::Launched &ended) const {
  seen.shared = banks.sites(), seen.global = coalescing.sites();
  seen.local = counts.local(), seen.work = counts.work();
  seen.faults = memory.findings();
  for (Finding &finding : race.findings())
    seen.faults.push_back(std::move(finding));
  std::optional<Finding> ending = endingOf(ended, seen.where);
  if (ending && std::ranges::none_of(seen.faults, [&](const Finding &fault) { return fault.kind == ending->kind; }))
    seen.faults.push_back(std::move(*ending));
}

/// Moves the place at the beginning of a detail, "t.cu:12: what", to where it belongs.
static void takePlace(Finding &finding) {
  const size_t name = finding.what.find(':'),
               end = name == std::string::npos ? name : finding.what.find(": ", name + 1);
  unsigned line = 0;
  if (end == std::string::npos ||
      std::from_chars(finding.what.data() + name + 1, finding.what.data() + end, line).ptr != finding.what.data() + end)
    return;
  const std::filesystem::path file = finding.what.substr(0, name);
  if (file.filename() != std::filesystem::path(finding.where.file).filename())
    finding.where.file = file.string();
  finding.where.line = line, finding.where.column = 0;
  finding.what.erase(0, end + 2);
}

std::optional<Finding> endingOf(const card::Launched &ended, const SourcePlace &kernel) {
  using End = card::Launched::End;
  struct Row {
    End end;
    const char *kind, *why, *change;
  };
  static constexpr Row rows[] = {
      {End::Crash, "crash", "the kernel was ended by the processor", "look at the accesses of the last lines that ran"},
      {End::Hang, "hang", "the kernel was still running when its time was over",
       "look for a loop that waits for what never comes; or give --timeout more"},
      {End::Assert, "assert", "an assert of the kernel's own failed", "look at what it asks for"},
      {End::Barrier, "barrier",
       "a barrier that not all threads of the block reach is undefined in CUDA: it may hang or let some pass",
       "move the barrier out of the branch or loop that threads leave at different times"},
      {End::Sandbox, "crash", "the kernel tried a system call", "device code has no system to call"}};
  if (ended.end == End::Done)
    return std::nullopt;
  const bool strayed = ended.end == End::Crash && ended.outOfBounds;
  const Row *row = std::ranges::find(rows, ended.end, &Row::end);
  if (row == std::end(rows))
    return std::nullopt;
  Finding finding;
  finding.kind = strayed ? "out_of_bounds" : row->kind;
  finding.where = kernel;
  finding.what = ended.detail.empty() ? row->why : ended.detail;
  takePlace(finding);
  finding.why = strayed ? "memory past the end of a buffer belongs to others: on a GPU it is read or overwritten "
                          "without a word, or the launch fails"
                        : row->why;
  finding.change = strayed ? "check the index against the buffer's size before the access" : row->change;
  finding.cost = 1, finding.isFault = true;
  return finding;
}

} // namespace opsight::sight
