// retarget: the module becomes one for the host: its triple, data layout and processor features, in place of nvptx64's.
// Structures keep their layout: the two data layouts agree on every type that CUDA code holds in memory.
#include "lower/native/host.h"
#include "lower/native/passes.h"
#include <llvm/IR/DebugInfo.h>

namespace opsight::lower::native {

static void dropForeignAttributes(llvm::Function &function) {
  for (llvm::StringRef name : {"target-cpu", "target-features", "tune-cpu", "nvvm.maxntid", "nvvm.minctasm", "nvvm.maxnreg",
                               "uniform-work-group-size", "frame-pointer"})
    function.removeFnAttr(name);
  function.removeFnAttr(llvm::Attribute::Convergent);
}

static Status run(Context &context) {
  auto machine = targetMachine(context.target.processor);
  if (!machine)
    return std::unexpected(machine.error());
  context.module.setTargetTriple((*machine)->getTargetTriple());
  context.module.setDataLayout((*machine)->createDataLayout());
  // DWARF made for a GPU's address classes is nothing that a host debugger reads.
  llvm::StripDebugInfo(context.module);
  if (llvm::NamedMDNode *annotations = context.module.getNamedMetadata("nvvm.annotations"))
    annotations->eraseFromParent();
  for (llvm::Function &function : context.module) {
    dropForeignAttributes(function);
    if (function.isDeclaration())
      continue;
    // A loop without end is the kernel's fault to show, not LLVM's to remove. (Of intrinsics LLVM relies on what they
    // promise.)
    function.removeFnAttr(llvm::Attribute::MustProgress);
    function.removeFnAttr(llvm::Attribute::WillReturn);
    function.addFnAttr("target-cpu", (*machine)->getTargetCPU());
    function.addFnAttr("target-features", (*machine)->getTargetFeatureString());
    function.setDoesNotThrow();
  }
  context.kernel->setCallingConv(llvm::CallingConv::C);
  return {};
}

const Pass retarget{"retarget", "make the module one for the host processor", run};

} // namespace opsight::lower::native
