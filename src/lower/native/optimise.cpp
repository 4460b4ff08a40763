// optimise: LLVM's own -O3 for the host processor, as Clang would run it.
#include "lower/analyses.h"
#include "lower/native/host.h"
#include "lower/native/passes.h"
#include <llvm/Passes/PassBuilder.h>

namespace opsight::lower::native {

static Status run(Context &context) {
  auto machine = targetMachine(context.target.processor);
  if (!machine)
    return std::unexpected(machine.error());
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = true;
  llvm::PassBuilder builder(machine->get(), tuning);
  llvm::ModulePassManager passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  runModulePasses(context.module, passes, machine->get());
  return {};
}

const Pass optimise{"optimise", "LLVM's -O3 for the host processor", run};

} // namespace opsight::lower::native
