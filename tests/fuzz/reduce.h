// Makes a kernel smaller that shows a fault, by deleting and replacing parts of its tree.
#pragma once
#include "fuzz/kernel.h"
#include <functional>

namespace opsight::fuzz {

/// The smallest kernel found for which `fails` still holds, after at most `tries` questions.
Kernel reduce(Kernel kernel, const std::function<bool(const Kernel &)> &fails, unsigned tries);

} // namespace opsight::fuzz
