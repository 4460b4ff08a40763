// Runs passes one after the other, each under the same wrapper: its time, its dump, and LLVM's verifier.
#pragma once
#include "lower/pass.h"

namespace opsight::lower {

/// Runs `passes` in order. With OPSIGHT_DUMP=FOLDER set, writes the IR after each pass there; with OPSIGHT_TIMES set,
/// the milliseconds of each. IR that LLVM's verifier refuses is our fault: it is kept in a file that the error names.
Status runPasses(Context &context, std::span<const Pass *const> passes);

/// Writes `context`'s IR where the user can find it and returns the path.
std::string keepIr(const Context &context, std::string_view why);

/// A context for `module`: finds the kernel and describes its parameters. `symbol` may be empty if there is one kernel.
Result<Context> openContext(llvm::Module &module, const std::string &symbol, const Target &target);

} // namespace opsight::lower
