// specialise: generic pointers become pointers into the one memory they point to. A device function called with a
// global, a shared and a stack pointer was inlined three times, so each copy knows. Promotion of stack variables comes
// first: unoptimised code keeps its pointers there.
#include "lower/analyses.h"
#include "lower/spirv/passes.h"
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace opsight::lower::spirv {

static Status run(Context &context) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InferAddressSpacesPass(genericSpace));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG)); // casts that hid a local array are gone now
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InferAddressSpacesPass(genericSpace));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::ADCEPass());
  runFunctionPasses(*context.kernel, passes);
  return {};
}

const Pass specialise{"specialise", "promote locals and infer each pointer's address space", run};

} // namespace opsight::lower::spirv
