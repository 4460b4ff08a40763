#include "card/artifact.h"
#include "base/sha256.h"
#include <nlohmann/json.hpp>

namespace opsight::card {

namespace {
using nlohmann::ordered_json;

const char *nameOf(Format format) {
  switch (format) {
  case Format::SpirV:
    return "spirv";
  case Format::Native:
    return "native";
  case Format::Host:
    return "host";
  case Format::Library:
    break;
  }
  return "library";
}

const char *nameOf(Parameter::Kind kind) {
  switch (kind) {
  case Parameter::Kind::Buffer:
    return "buffer";
  case Parameter::Kind::Scalar:
    return "scalar";
  case Parameter::Kind::DynamicShared:
    return "dynamic_shared";
  case Parameter::Kind::Symbol:
    return "symbol";
  case Parameter::Kind::Watch:
    return "watch";
  case Parameter::Kind::Shadow:
    return "shadow";
  case Parameter::Kind::Message:
    break;
  }
  return "message";
}

ordered_json toJson(const Parameter &parameter) {
  ordered_json j = {{"name", parameter.name}, {"kind", nameOf(parameter.kind)}, {"bytes", parameter.bytes},
                    {"alignment", parameter.alignment}};
  if (!parameter.initial.empty())
    j["initial_sha256"] = sha256(parameter.initial);
  return j;
}
} // namespace

std::string manifestJson(const Artifact &artifact) {
  const Manifest &m = artifact.manifest;
  ordered_json j = {{"schema", "opsight.manifest/1"}, {"kernel", m.kernel}, {"entry", m.entry}, {"format", nameOf(m.format)}};
  j["parameters"] = ordered_json::array();
  for (const Parameter &parameter : m.parameters)
    j["parameters"].push_back(toJson(parameter));
  j["static_shared_bytes"] = m.staticSharedBytes;
  j["resident_bytes"] = m.residentBytes;
  j["required_block"] = nullptr;
  if (m.requiredBlock)
    j["required_block"] = {m.requiredBlock->x, m.requiredBlock->y, m.requiredBlock->z};
  j["limits"] = {{"max_threads_per_block", m.maxThreadsPerBlock}, {"subgroup_width", m.subgroupWidth}};
  j["needs"] = {{"double", m.needsDouble}, {"half", m.needsHalf}, {"int64_atomics", m.needsInt64Atomics}};
  j["uses_float_atomics"] = m.usesFloatAtomics;
  j["formats"] = m.formats;
  j["notes"] = m.notes;
  j["code"] = {{"bytes", artifact.code.size()}, {"sha256", sha256(artifact.code)}};
  // Names come from users' sources: bytes that are no UTF-8 are replaced rather than thrown on.
  return j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace opsight::card
