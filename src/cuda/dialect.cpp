#include "cuda/dialect.h"
#include "cuda/invocation.h"
#include "cuda/ptx.h"
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Demangle/Demangle.h>

namespace opsight::cuda {
namespace {
// What module.h lists under "Thread and block" and "Warps", by the beginning of the name.
constexpr llvm::StringRef knownIntrinsics[] = {
    "llvm.nvvm.read.ptx.sreg.tid.",       "llvm.nvvm.read.ptx.sreg.ntid.",     "llvm.nvvm.read.ptx.sreg.ctaid.",
    "llvm.nvvm.read.ptx.sreg.nctaid.",    "llvm.nvvm.read.ptx.sreg.laneid",    "llvm.nvvm.read.ptx.sreg.clock",
    "llvm.nvvm.read.ptx.sreg.globaltimer", "llvm.nvvm.read.ptx.sreg.warpid",
    "llvm.nvvm.barrier.cta.sync.aligned.", "llvm.nvvm.barrier.cta.red.", "llvm.nvvm.bar.warp.sync",
    "llvm.nvvm.shfl.sync.",               "llvm.nvvm.vote.",                   "llvm.nvvm.activemask",
    "llvm.nvvm.match.",                   "llvm.nvvm.redux.sync.",
};
// Calls of ours that stand for what CUDA has and we do not.
constexpr llvm::StringRef missingPrefix = "__opsight_missing_";

bool isKnownIntrinsic(llvm::StringRef name) {
  return !name.starts_with("llvm.nvvm.") ||
         llvm::any_of(knownIntrinsics, [&](llvm::StringRef known) { return name.starts_with(known); });
}

std::unexpected<Error> refuse(const llvm::Instruction &instruction, std::string what, std::string next = {}) {
  return unsupported(std::move(what), std::move(next), userPlace(instruction));
}

Status checkCall(const llvm::CallBase &call) {
  if (call.isInlineAsm())
    return refuse(call, untranslatedPtx(call));
  const llvm::Function *callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration())
    return {};
  llvm::StringRef name = callee->getName();
  if (callee->isIntrinsic())
    return isKnownIntrinsic(name) ? Status() : refuse(call, "'" + name.str() + "' has no translation");
  if (name.starts_with(missingPrefix))
    return refuse(call, "device-side '" + name.drop_front(missingPrefix.size()).str() + "' is not supported");
  if (name == "__opsight_printf") {
    llvm::StringRef format;
    if (!llvm::getConstantStringInfo(call.getArgOperand(0), format))
      return refuse(call, "device printf needs a literal format");
    return {};
  }
  if (name.starts_with("__opsight_") || name.starts_with("__nv_"))
    return {};
  std::string shown = llvm::demangle(name.str());
  if (shown.starts_with("operator new") || shown.starts_with("operator delete"))
    return refuse(call, "device-side '" + shown.substr(0, shown.find('(')) + "' is not supported");
  return refuse(call, "device function '" + shown + "' is declared but not defined in this file",
                "Opsight compiles one file; include the function's definition");
}
} // namespace

SourcePlace userPlace(const llvm::Instruction &instruction) {
  const std::string ours = cudaHeaderFolder();
  SourcePlace place;
  for (const llvm::DILocation *location = instruction.getDebugLoc(); location; location = location->getInlinedAt()) {
    std::string file = location->getFilename().str();
    place = {file, location->getLine(), location->getColumn()};
    bool inHeader = llvm::StringRef(file).starts_with(ours) || llvm::StringRef(file).contains("/lib/clang/");
    if (!inHeader && place.line != 0)
      break;
    if (place.line == 0) // code that the optimiser made of several lines
      place.line = location->getScope()->getSubprogram()->getLine();
  }
  if (const llvm::DISubprogram *function = instruction.getFunction()->getSubprogram(); function && place.line == 0)
    place = {function->getFilename().str(), function->getLine(), 0};
  return place;
}

Status checkDialect(const llvm::Module &ir) {
  for (const llvm::GlobalVariable &variable : ir.globals())
    if (variable.hasAttribute("opsight-managed"))
      return unsupported("__managed__ variable '" + llvm::demangle(variable.getName().str()) + "' is not supported");
  for (const llvm::Function &function : ir)
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (Status checked = checkCall(*call); !checked)
          return checked;
  return {};
}

} // namespace opsight::cuda
