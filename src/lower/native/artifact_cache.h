// Native artifacts, kept between runs: made again they would be the same, bit for bit.
#pragma once
#include "lower/lower.h"
#include <optional>

namespace opsight::lower::native {

/// Names all that toNative's artifact depends on: the module, the target, the processor, and this build of ours. Empty
/// where that is not known; then nothing is kept.
std::string artifactKey(const cuda::Module &module, const Target &target);
std::optional<card::Artifact> keptArtifact(const std::string &key);
void keepArtifact(const std::string &key, const card::Artifact &artifact);

} // namespace opsight::lower::native
