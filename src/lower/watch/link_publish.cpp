// link_publish: the functions that a watched kernel publishes through (publish/) or checks itself with (check/) join
// the module. Runs when the module is the host's, as they are host code.
#include "lower/bitcode_library.h"
#include "lower/watch/calls.h"
#include <llvm/IR/InstIterator.h>
#include <llvm/Linker/Linker.h>

extern const unsigned char opsight_publish[], opsight_check[];
extern const unsigned long opsight_publish_size, opsight_check_size;

namespace opsight::lower::watch {

/// Checks become part of the kernel, compiled for what each site has as constants; of the others one body a kernel
/// serves all sites.
static void prepare(Context &context, llvm::Function &function) {
  bool isCheck = function.getName().starts_with("opsight_check_");
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.addFnAttr(isCheck ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
  for (const char *attribute : {"target-cpu", "target-features"})
    function.addFnAttr(context.kernel->getFnAttribute(attribute));
}

static Status run(Context &context) {
  if (context.target.watched == Watched::No)
    return {};
  bool isChecked = context.target.watched == Watched::Checked;
  auto library = isChecked ? openBitcode("check", opsight_check, opsight_check_size, context.module)
                           : openBitcode("publish", opsight_publish, opsight_publish_size, context.module);
  if (!library)
    return std::unexpected(library.error());
  llvm::SmallVector<std::string> names;
  for (llvm::Function &function : **library)
    if (!function.isDeclaration())
      names.push_back(function.getName().str());
  if (llvm::Linker::linkModules(context.module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return internalError("the library of watched kernels cannot be linked");
  for (const std::string &name : names)
    if (llvm::Function *function = context.module.getFunction(name); function && !function->isDeclaration())
      prepare(context, *function);
  return {};
}

const Pass link_publish{"link_publish", "the functions that a watched kernel calls join it", run};

} // namespace opsight::lower::watch
