#include "port/account.h"
#include "base/text.h"
#include "port/contains.h"

namespace opsight::port {

namespace {

using Kind = cuda::Fact::Kind;

std::string bytesText(uint64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " bytes";
  std::string tenths = std::to_string(bytes % 1024 * 10 / 1024);
  return std::to_string(bytes / 1024) + (tenths == "0" ? "" : "." + tenths) + " KiB";
}

/// "flash.cu:41, 57, 63 and 2 more"
std::string places(const std::vector<const cuda::Fact *> &facts) {
  std::vector<std::string> seen;
  for (const cuda::Fact *fact : facts) {
    std::string place = std::filesystem::path(fact->where.file).filename().string() + ":" + std::to_string(fact->where.line);
    if (fact->where.line && !contains(seen, place))
      seen.push_back(place);
  }
  size_t more = seen.size() > 6 ? seen.size() - 5 : 0;
  if (more)
    seen.resize(5);
  std::string text = join(seen, ", ");
  return more ? text + " and " + std::to_string(more) + " more" : text;
}

std::vector<const cuda::Fact *> ofKind(const cuda::Facts &facts, const std::vector<Kind> &kinds,
                                       std::string_view space = {}) {
  std::vector<const cuda::Fact *> found;
  for (const cuda::Fact &fact : facts.all)
    if (contains(kinds, fact.kind) && (space.empty() || fact.space == space))
      found.push_back(&fact);
  return found;
}

std::string counted(const std::vector<const cuda::Fact *> &facts) {
  std::string where = places(facts);
  return std::to_string(facts.size()) + (where.empty() ? "" : " (" + where + ")");
}

std::string sharedText(const cuda::Facts &facts) {
  if (!facts.staticSharedBytes && !facts.usesDynamicShared)
    return "none";
  std::vector<std::string> arrays;
  for (const cuda::Fact *fact : ofKind(facts, {Kind::SharedArray}))
    arrays.push_back(fact->what);
  std::string text = bytesText(facts.staticSharedBytes) + " static";
  if (facts.usesDynamicShared)
    text += ", and dynamic";
  return arrays.empty() ? text : text + ": " + join(arrays, ", ");
}

std::string loopText(const cuda::Facts &facts) {
  auto loops = ofKind(facts, {Kind::Loop});
  if (loops.empty())
    return "none";
  size_t constant = 0, unrolled = 0;
  for (const cuda::Fact *loop : loops) {
    constant += loop->trips >= 0;
    unrolled += loop->unrolled;
  }
  return counted(loops) + ", " + std::to_string(constant) + " with a constant count, " + std::to_string(unrolled) +
         " asked to unroll";
}

std::string parameterText(const cuda::Kernel &kernel) {
  std::vector<std::string> all;
  for (const cuda::KernelParameter &parameter : kernel.parameters)
    all.push_back(parameter.type + " " + parameter.name);
  return all.empty() ? "none" : join(all, ", ");
}

} // namespace

KernelAccount accountOf(const cuda::Module &module) {
  const cuda::Facts &facts = module.kernel.facts;
  KernelAccount account{module.kernel.name, facts.where, {}};
  auto line = [&](std::string subject, std::string text) { account.lines.emplace_back(std::move(subject), std::move(text)); };
  line("parameters", parameterText(module.kernel));
  if (facts.maxThreadsPerBlock)
    line("launch bounds", std::to_string(facts.maxThreadsPerBlock) + " threads a block");
  line("shared memory", sharedText(facts));
  struct Subject {
    std::string name;
    std::vector<Kind> kinds; // owned: the array behind an initializer_list ends with the expression
    std::string space;
    bool always;
  };
  static const std::vector<Subject> subjects = {
      {"barriers", {Kind::Barrier}, "", true},
      {"warp operations", {Kind::WarpOperation}, "", false},
      {"atomics", {Kind::Atomic}, "", false},
      {"global loads", {Kind::Load}, "global", true},
      {"global stores", {Kind::Store}, "global", true},
      {"shared loads", {Kind::Load}, "shared", false},
      {"shared stores", {Kind::Store}, "shared", false},
      {"printf, assert", {Kind::Printf, Kind::Assert}, "", false},
  };
  for (const Subject &subject : subjects)
    if (auto found = ofKind(facts, subject.kinds, subject.space); subject.always || !found.empty())
      line(subject.name, counted(found));
  line("loops", loopText(facts));
  return account;
}

} // namespace opsight::port
