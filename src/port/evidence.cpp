#include "port/evidence.h"
#include "port/contains.h"
#include "port/ir_view.h"
#include <fmt/format.h>

namespace opsight::port {

namespace {

/// What one part of a hint is judged by.
struct Scene {
  const Hint &hint;
  const SourceKernel &kernel;
  const cuda::Module &module;
  IrView &view;
  const ops::Case &c;
  const judge::Verdict &verdict;
  bool isSimt = false;                    // its blocks have threads that share
  const SharedTraffic *traffic = nullptr; // where a hint needs it
};

/// The outcome for the hint itself, or for one part of it under its own value.
struct Finding {
  std::optional<bool> kept;
  std::string evidence;
  std::string part{}; // empty: the whole hint
};
using Findings = std::vector<Finding>;

std::string shortPlace(const SourcePlace &where) {
  return std::filesystem::path(where.file).filename().string() + ":" + std::to_string(where.line);
}

/// The device functions of the tile library that are the three phases (kernels/attention/online_softmax.h).
constexpr std::string_view maximumPhase = "local_maximum", sumPhase = "rescale_and_sum", accumulatePhase = "accumulate";

Findings online(const Scene &scene) {
  auto maximum = scene.view.from({maximumPhase}), sum = scene.view.from({sumPhase}),
       accumulate = scene.view.from({accumulatePhase});
  if (maximum.empty() || sum.empty() || accumulate.empty())
    return {{false, "the IR shows no three phases (local_maximum, rescale_and_sum, accumulate)"}};
  bool kept = scene.view.ordered(maximum, sum) && scene.view.ordered(sum, accumulate) &&
              scene.view.commonLoop(maximum, accumulate);
  std::string text = fmt::format("in the loop over key tiles {} instructions of local_maximum ({}), {} of "
                                 "rescale_and_sum ({}), {} of accumulate ({})",
                                 maximum.size(), shortPlace(IrView::placeOf(*maximum.front())), sum.size(),
                                 shortPlace(IrView::placeOf(*sum.front())), accumulate.size(),
                                 shortPlace(IrView::placeOf(*accumulate.front())));
  return {{kept, text + (kept ? ", in this order on every path" : ", not in this order on every path")}};
}

Findings maximumBeforeSum(const Scene &scene) {
  auto tileMaximum = scene.view.from({maximumPhase}), newMaximum = scene.view.from({sumPhase, "larger"}),
       exponentials = scene.view.from({sumPhase, "exponential"}), sum = scene.view.from({sumPhase});
  if (newMaximum.empty() || exponentials.empty())
    return {{false, "the IR shows no update of the maximum within rescale_and_sum"}};
  bool kept = scene.view.ordered(tileMaximum, sum) && scene.view.ordered(newMaximum, exponentials);
  return {{kept,
           fmt::format("the running maximum ({}) {} every exponential that is summed ({}), and the tile's maximum "
                       "before both: the IR has one such place for all tiles",
                       shortPlace(IrView::placeOf(*newMaximum.front())), kept ? "moves before" : "does not move before",
                       shortPlace(IrView::placeOf(*exponentials.front())))}};
}

Findings softmax(const Scene &scene) { return scene.hint.value == "online" ? online(scene) : maximumBeforeSum(scene); }

Findings tile(const Scene &scene) {
  std::optional<IrView::Tile> tile = scene.view.tileReadBy(scene.view.from({maximumPhase}));
  if (!tile)
    return {{false, "the IR of " + scene.module.kernel.name + " shows no tile of scores"}};
  std::string built = std::to_string(tile->columns) + "x" + std::to_string(tile->rows);
  return {{built == scene.hint.value, fmt::format("the instance compiled is {}; its tile of scores is {} in the IR: {} "
                                                  "queries by {} keys",
                                                  scene.module.kernel.name, tile->type, tile->columns, tile->rows)}};
}

Findings reduceStride(const Scene &scene) {
  int64_t stride = std::stoll(scene.hint.value);
  std::string text;
  bool kept = true;
  for (std::string_view phase : {maximumPhase, sumPhase}) {
    std::vector<IrView::Reduction> reductions = scene.view.reductions(scene.view.from({phase}));
    auto found = std::ranges::find_if(reductions, [&](const IrView::Reduction &each) {
      return each.step == stride && each.partials == static_cast<size_t>(stride);
    });
    kept &= found != reductions.end();
    if (found != reductions.end())
      text += fmt::format("{}the loop of {} at {} advances by {} keys with {} partial results side by side",
                          text.empty() ? "" : "; ", phase, shortPlace(found->where), found->step, found->partials);
    else
      text += fmt::format("{}no loop of {} advances by {} keys", text.empty() ? "" : "; ", phase, stride);
  }
  return {{kept, text}};
}

/// Reads of `tensor` go along the head dimension where it lies in memory, and no copy of it is made.
Finding rowMajor(const Scene &scene) {
  Finding finding{true, "", "row-major"};
  for (const auto &[tensor, width] : {std::pair("key", "D"), std::pair("value", "Dv")}) {
    int64_t rowBytes = scene.c.symbols.at(width) * 4;
    IrView::Reading reading = scene.view.readingOf(tensor, rowBytes);
    bool kept = reading.loads && reading.neighbours && reading.rows && !reading.copied;
    finding.kept = *finding.kept && kept;
    finding.evidence += fmt::format(
        "{}{}: {} loads, {} 4 bytes apart along the head dimension, rows {}{} bytes apart, {}",
        finding.evidence.empty() ? "" : "; ", tensor, reading.loads, reading.neighbours ? "neighbours" : "none",
        reading.rows ? "" : "not ", rowBytes, reading.copied ? "copied to other memory" : "never copied or transposed");
  }
  return finding;
}

/// Neighbouring threads move neighbours: every sample of the site has the same step between its threads.
bool movesNeighbours(const sight::SiteAccesses &site) {
  std::optional<int64_t> stride = sight::evenStride(site.samples);
  return stride && *stride == int64_t(site.site.bytes);
}

/// Rows of K and V come in as they lie, and go to shared memory as they come: on the line that reads them, neighbouring
/// threads read neighbours, and write neighbours.
Finding stagedRowMajor(const SharedTraffic &traffic) {
  Finding finding{true, "", "row-major"};
  for (const char *tensor : {"key", "value"}) {
    uint64_t requests = 0, sectors = 0, ideal = 0;
    bool neighbours = true;
    for (const sight::SiteAccesses &site : traffic.global)
      if (site.variable == tensor)
        requests += site.requests, sectors += site.taken, ideal += site.ideal, neighbours &= movesNeighbours(site);
    finding.kept = *finding.kept && requests && neighbours;
    finding.evidence +=
        fmt::format("{}{}: {} reads of warps, neighbouring threads {} neighbours of a row, {} sectors of {} needed",
                    finding.evidence.empty() ? "" : "; ", tensor, requests,
                    requests && neighbours ? "read" : "do not read", sectors, ideal);
  }
  return finding;
}

Finding freeOfConflicts(const SharedTraffic &traffic) {
  uint64_t requests = 0, taken = 0, ideal = 0;
  const sight::SiteAccesses *worst = nullptr;
  for (const sight::SiteAccesses &site : traffic.shared) {
    requests += site.requests, taken += site.taken, ideal += site.ideal;
    if (site.taken > site.ideal && (!worst || site.taken - site.ideal > worst->taken - worst->ideal))
      worst = &site;
  }
  std::string text =
      fmt::format("{} accesses of warps to shared memory took {} wavefronts, {} would be ideal (32 banks of "
                  "4 bytes, watched in case '{}')",
                  requests, taken, ideal, traffic.caseName);
  if (worst)
    text += fmt::format("; most conflicts at {}", shortPlace(worst->site.where));
  return {requests > 0 && taken == ideal, text, "shared"};
}

/// Tile and stride of an operator that has no scores: what the hint fixed is what was compiled.
Findings byParameter(const Scene &scene) {
  const auto &parameters = scene.kernel.parameters;
  auto fixed = parameters.find(scene.hint.key == "tile" ? "tile" : "reduce_stride");
  if (fixed == parameters.end())
    return {{std::nullopt, "does not apply: " + scene.module.kernel.name + " has no parameter that it could fix"}};
  return {{fixed->second == scene.hint.value, "the instance compiled is " + scene.module.kernel.name}};
}

bool isAttention(const Scene &scene) { return scene.c.symbols.contains("D") && scene.c.symbols.contains("Dv"); }

Findings keyValue(const Scene &scene) {
  if (scene.hint.value.ends_with("column-major"))
    return {{false, "the candidate reads K and V row-major"}};
  if (scene.isSimt) {
    if (!scene.traffic)
      return {{std::nullopt, "could not be watched"}};
    Findings findings = {stagedRowMajor(*scene.traffic)};
    if (scene.hint.value.starts_with("shared"))
      findings.push_back(freeOfConflicts(*scene.traffic));
    return findings;
  }
  Findings findings = {rowMajor(scene)};
  if (scene.hint.value.starts_with("shared"))
    findings.push_back(
        {std::nullopt,
         "does not apply: a block of this candidate is one thread (simd mapping), so there is no memory "
         "to share and there are no banks to conflict; K and V are read where they lie, through the caches",
         "shared"});
  return findings;
}

Findings order(const Scene &scene) {
  const judge::Verdict &verdict = scene.verdict;
  size_t cases = verdict.accuracy.cases.size();
  if (!verdict.accuracy.pass)
    return {{true, fmt::format("accuracy failed, so nothing was timed ({} cases judged)", cases)}};
  if (!verdict.speed)
    return {{true, fmt::format("{} cases were right; speed was not asked for", cases)}};
  return {{true, fmt::format("all {} cases were right before the first run was timed", cases)}};
}

/// Hints speak of attention; of other operators what they can say is judged, and the rest has no bearing.
Findings elsewhere(const Scene &scene) {
  if (scene.hint.key == "order")
    return order(scene);
  if (scene.hint.key == "tile" || scene.hint.key == "reduce-stride")
    return byParameter(scene);
  return {{std::nullopt, "does not apply: the operator has no scores, keys and values"}};
}

using Judge = Findings (*)(const Scene &);

/// Null for a hint that nothing is known of.
Judge judgeOf(const Scene &scene) {
  static const std::map<std::string, Judge> table = {
      {"softmax", softmax}, {"tile", tile}, {"reduce-stride", reduceStride}, {"kv", keyValue}, {"order", order}};
  auto found = table.find(scene.hint.key);
  return found == table.end() ? nullptr : isAttention(scene) ? found->second : elsewhere;
}

} // namespace

Result<std::vector<HintResult>> evidenceFor(const std::vector<Hint> &hints, SourceCandidate &candidate,
                                            const ops::Case &c, const judge::Verdict &verdict,
                                            const std::function<Result<SharedTraffic>()> &traffic) {
  std::vector<HintResult> results;
  if (hints.empty())
    return results;
  Result<std::shared_ptr<const cuda::Module>> module = candidate.moduleFor(c);
  if (!module)
    return std::unexpected(module.error());
  IrView view(**module);
  Result<card::LaunchConfig> launch = candidate.launchOf(candidate.symbolsOf(c));
  if (!launch)
    return std::unexpected(launch.error());
  const bool isSimt = launch->block.count() > 1;
  std::optional<SharedTraffic> seen;
  if (isSimt && std::ranges::any_of(hints, [](const Hint &hint) { return hint.key == "kv"; })) {
    Result<SharedTraffic> watched = traffic();
    if (!watched && watched.error().kind != ErrorKind::NoVerdict)
      return std::unexpected(watched.error());
    if (watched)
      seen = std::move(*watched);
  }
  for (const Hint &hint : hints) {
    const Scene scene{hint, candidate.source(), **module, view, c, verdict, isSimt, seen ? &*seen : nullptr};
    const Judge judge = judgeOf(scene);
    if (!judge)
      return internalError("no evidence is known for the hint " + hint.key);
    for (Finding &finding : judge(scene)) {
      HintResult result{hint, finding.kept, std::move(finding.evidence)};
      if (!finding.part.empty())
        result.hint.value = finding.part;
      results.push_back(std::move(result));
    }
  }
  return results;
}

} // namespace opsight::port
