// The first look at a kernel: its facts in a few lines, each with the places they were seen at.
#pragma once
#include "cuda/module.h"
#include "port/outcome.h"

namespace opsight::port {

KernelAccount accountOf(const cuda::Module &module);

} // namespace opsight::port
