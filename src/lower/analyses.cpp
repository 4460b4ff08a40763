// See analyses.h.
#include "lower/analyses.h"
#include <llvm/Passes/PassBuilder.h>

namespace opsight::lower {

Analyses::Analyses(llvm::TargetMachine *target) { registerAll(target); }

Analyses::Analyses(llvm::TargetIRAnalysis costs) {
  // Registered first, so that the builder's own of the same kind is not taken.
  functions.registerPass([&] { return std::move(costs); });
  registerAll(nullptr);
}

void Analyses::registerAll(llvm::TargetMachine *target) {
  llvm::PassBuilder builder(target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
}

void runModulePasses(llvm::Module &module, llvm::ModulePassManager &passes, llvm::TargetMachine *target) {
  Analyses analyses(target);
  passes.run(module, analyses.modules);
}

void runFunctionPasses(llvm::Function &function, llvm::FunctionPassManager &passes, llvm::TargetMachine *target) {
  Analyses analyses(target);
  passes.run(function, analyses.functions);
}

} // namespace opsight::lower
