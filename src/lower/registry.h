// Every pass of every target by its name, for opsight-opt and for tests.
#pragma once
#include "lower/pass.h"
#include <vector>

namespace opsight::lower {

std::vector<const Pass *> allPasses();
const Pass *findPass(std::string_view name);

} // namespace opsight::lower
