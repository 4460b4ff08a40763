// Proposer "source-variants": small, safe changes to the user's own CUDA, each shown as a diff and judged like any other
// candidate. A change moves where data lies or how a loop is written, never what is computed.
#pragma once
#include "port/recipe.h"

namespace opsight::port {

/// One change: a row of a shared array longer by one element, so that columns spread over the banks; a loop unrolled.
struct SourceVariant {
  std::string name; // "pad tile", "unroll 4 at 36"
  std::string text; // the whole source
};

/// What may be changed of `text`, whose facts are those of the kernel in `file`. Only what stands in the file itself.
std::vector<SourceVariant> sourceVariants(const std::string &text, const cuda::Facts &facts, const std::string &file);

/// A proposal for each, to be measured once the source is right.
std::vector<Proposal> proposeVariants(const Request &request, const cuda::Module &module);

/// Lines that differ, as `diff -u` shows them without context; both texts have the same lines but for those.
std::string lineDiff(const std::string &before, const std::string &after, const std::string &name);

} // namespace opsight::port
