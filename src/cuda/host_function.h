// A function of plain C++ compiled for the host, as what a kernel's output is compared with.
#pragma once
#include "cuda/module.h"

namespace opsight::cuda {

/// The symbol of type card::native::Entry (card/cpu/abi.h) through which `function` is called once, whatever the blocks.
inline constexpr const char *hostEntry = "opsight_plain_reference";

/// Compiles `file`, optimised but without contraction, to IR for this machine that exports hostEntry alone. The module's
/// kernel describes `function` ("dot", "ours::dot"): its name, place and parameters. User error with Clang's own words for
/// code that does not compile, for a name that is not there, defined twice or a template, and for a parameter by reference.
Result<Module> compileHostFunction(const std::string &file, const std::string &function);

} // namespace opsight::cuda
