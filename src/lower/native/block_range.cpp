// block_range: the exported entry of card/cpu/abi.h. It reads the arguments once and runs the kernel's body, now an
// internal function, for each block of the range it was handed.
#include "lower/native/entry.h"
#include "lower/native/passes.h"

namespace opsight::lower::native {

static Status run(Context &context) {
  Entry entry(context);
  // Its stack arrays must be the block's, made anew each time, and its code stays one loop nest for the optimiser.
  entry.body->addFnAttr(llvm::Attribute::NoInline);
  forEachBlock(entry, [&](llvm::Value *) { entry.b.CreateCall(entry.body, entry.values); });
  closeEntry(entry);
  return {};
}

const Pass block_range{"block_range", "export an entry that runs a range of blocks", run};

} // namespace opsight::lower::native
