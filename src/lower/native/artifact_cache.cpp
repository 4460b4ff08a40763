// See artifact_cache.h.
#include "lower/native/artifact_cache.h"
#include "base/cache.h"
#include "card/watch.h"
#include "lower/native/host.h"
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace opsight {
using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SourcePlace, file, line, column)

namespace card {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Dim3, x, y, z)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WatchedObject, name, space, bytes, elementBytes, offset, isDynamic)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Site, kind, space, bytes, alignment, object, isVolatile, where)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LineCounts, where, instructions, flops, loads, stores, atomics, integers, specials,
                                   branches)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Watch, sites, objects, blocks)

static json binary(const std::string &bytes) { return json::binary({bytes.begin(), bytes.end()}); }
static std::string text(const json &bytes) {
  const json::binary_t &all = bytes.get_binary();
  return {all.begin(), all.end()};
}

static void to_json(json &j, const Parameter &p) {
  j = {p.name, p.kind, p.bytes, p.alignment, binary(p.initial), p.type};
}
static void from_json(const json &j, Parameter &p) { p = {j.at(0), j.at(1), j.at(2), j.at(3), text(j.at(4)), j.at(5)}; }
} // namespace card

namespace lower::native {

std::string artifactKey(const cuda::Module &module, const Target &target) {
  if (std::getenv("OPSIGHT_DUMP") || std::getenv("OPSIGHT_TIMES")) // who looks at the passes wants them to run
    return {};
  auto machine = targetMachine(target.processor);
  if (module.fingerprint.empty() || programStamp().empty() || !machine)
    return {};
  return fmt::format("native\n{}\n{}\n{} {} {}\n{} {}\n{}\n{}", programStamp(), module.fingerprint, target.block.x,
                     target.block.y, target.block.z, target.lanes, int(target.watched), (*machine)->getTargetCPU().str(),
                     (*machine)->getTargetFeatureString().str());
}

void keepArtifact(const std::string &key, const card::Artifact &artifact) {
  if (key.empty())
    return;
  const card::Manifest &m = artifact.manifest;
  json all = {{"kernel", m.kernel},
              {"entry", m.entry},
              {"format", m.format},
              {"parameters", m.parameters},
              {"static", m.staticSharedBytes},
              {"resident", m.residentBytes},
              {"max_threads", m.maxThreadsPerBlock},
              {"subgroup", m.subgroupWidth},
              {"needs", {m.needsDouble, m.needsHalf, m.needsInt64Atomics, m.usesFloatAtomics}},
              {"notes", m.notes},
              {"code", card::binary(artifact.code)},
              {"readable", card::binary(artifact.readable)}};
  for (const std::string &format : m.formats) // the user's own bytes, which need not be UTF-8
    all["formats"].push_back(card::binary(format));
  if (m.requiredBlock)
    all["block"] = *m.requiredBlock;
  if (artifact.watch)
    all["watch"] = *artifact.watch;
  std::string bytes;
  json::to_cbor(all, bytes);
  toCache(key, bytes);
}

std::optional<card::Artifact> keptArtifact(const std::string &key) {
  auto bytes = key.empty() ? std::nullopt : fromCache(key);
  if (!bytes)
    return std::nullopt;
  json all = json::from_cbor(*bytes, true, false);
  if (all.is_discarded())
    return std::nullopt;
  card::Artifact artifact;
  card::Manifest &m = artifact.manifest;
  m.kernel = all.at("kernel"), m.entry = all.at("entry"), m.format = all.at("format");
  m.parameters = all.at("parameters").get<std::vector<card::Parameter>>();
  m.staticSharedBytes = all.at("static"), m.residentBytes = all.at("resident"), m.maxThreadsPerBlock = all.at("max_threads"),
  m.subgroupWidth = all.at("subgroup");
  const json &needs = all.at("needs");
  m.needsDouble = needs.at(0), m.needsHalf = needs.at(1), m.needsInt64Atomics = needs.at(2),
  m.usesFloatAtomics = needs.at(3);
  m.notes = all.at("notes").get<std::vector<std::string>>();
  if (all.contains("formats"))
    for (const json &format : all.at("formats"))
      m.formats.push_back(card::text(format));
  if (all.contains("block"))
    m.requiredBlock = all.at("block").get<card::Dim3>();
  artifact.code = card::text(all.at("code"));
  artifact.readable = card::text(all.at("readable"));
  if (all.contains("watch"))
    artifact.watch = std::make_shared<const card::Watch>(all.at("watch").get<card::Watch>());
  return artifact;
}

} // namespace lower::native
} // namespace opsight
