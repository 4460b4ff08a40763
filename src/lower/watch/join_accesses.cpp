// join_accesses: what the source reads or writes as one vector, and LLVM has taken apart, is one access again where its
// alignment is known: so an NVIDIA compiler emits it, and so banks and sectors are to be counted.
#include "lower/analyses.h"
#include "lower/watch/calls.h"
#include <llvm/Transforms/Vectorize/LoadStoreVectorizer.h>

namespace opsight::lower::watch {

static Status run(Context &context) {
  if (context.target.watched == Watched::No)
    return {};
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoadStoreVectorizerPass());
  runFunctionPasses(*context.kernel, passes);
  return {};
}

const Pass join_accesses{"join_accesses", "neighbouring accesses of a thread become one", run};

} // namespace opsight::lower::watch
