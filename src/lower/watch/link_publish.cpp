// link_publish: the functions that a watched kernel publishes through (publish/) join the module. Runs when the module
// is the host's, as they are host code.
#include "lower/bitcode_library.h"
#include "lower/watch/calls.h"
#include <llvm/IR/InstIterator.h>
#include <llvm/Linker/Linker.h>

extern const unsigned char opsight_publish[];
extern const unsigned long opsight_publish_size;

namespace opsight::lower::watch {

static Status run(Context &context) {
  if (!context.target.watched)
    return {};
  auto library = openBitcode("publish", opsight_publish, opsight_publish_size, context.module);
  if (!library)
    return std::unexpected(library.error());
  llvm::SmallVector<std::string> names;
  for (llvm::Function &function : **library)
    if (!function.isDeclaration())
      names.push_back(function.getName().str());
  if (llvm::Linker::linkModules(context.module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return internalError("the publish library cannot be linked");
  for (const std::string &name : names) {
    llvm::Function *function = context.module.getFunction(name);
    if (!function || function->isDeclaration())
      continue;
    function->setLinkage(llvm::GlobalValue::InternalLinkage);
    function->addFnAttr(llvm::Attribute::NoInline); // one body a kernel, not one a site
    for (const char *attribute : {"target-cpu", "target-features"})
      function->addFnAttr(context.kernel->getFnAttribute(attribute));
  }
  return {};
}

const Pass link_publish{"link_publish", "the functions that publish join a watched kernel", run};

} // namespace opsight::lower::watch
