#include "card/library.h"

namespace opsight::card {

Artifact oneDnnAttentionArtifact() {
  Artifact artifact;
  Manifest &m = artifact.manifest;
  m.kernel = m.entry = oneDnnAttention;
  m.format = Format::Library;
  for (const char *name : {"query", "key", "value", "output"})
    m.parameters.push_back({.name = name, .kind = Parameter::Kind::Buffer});
  for (const char *name : {"B", "H", "Hkv", "L", "S", "D", "Dv"})
    m.parameters.push_back({.name = name, .kind = Parameter::Kind::Scalar, .bytes = 8, .alignment = 8});
  m.parameters.push_back({.name = "causal", .kind = Parameter::Kind::Scalar, .bytes = 4, .alignment = 4});
  m.parameters.push_back({.name = "scale", .kind = Parameter::Kind::Scalar, .bytes = 4, .alignment = 4});
  m.notes = {"oneDNN: matrix product, softmax, matrix product on tiles of query rows whose scores stay in the "
             "second-level cache, one tile a core at a time"};
  return artifact;
}

} // namespace opsight::card
