// Runs LLVM's own passes with the analyses they need; for our passes that lean on them.
#pragma once
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/PassManager.h>

namespace llvm {
class TargetMachine;
}

namespace opsight::lower {

/// The four analysis managers, registered with each other. `target` may be null: then LLVM's target-neutral costs hold.
struct Analyses {
  explicit Analyses(llvm::TargetMachine *target = nullptr);
  /// The same with costs and uniformity of the caller's own.
  explicit Analyses(llvm::TargetIRAnalysis costs);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;

private:
  void registerAll(llvm::TargetMachine *target);
};

void runModulePasses(llvm::Module &module, llvm::ModulePassManager &passes, llvm::TargetMachine *target = nullptr);
void runFunctionPasses(llvm::Function &function, llvm::FunctionPassManager &passes,
                       llvm::TargetMachine *target = nullptr);

} // namespace opsight::lower
