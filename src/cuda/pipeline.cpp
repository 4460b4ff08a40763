#include "cuda/pipeline.h"
#include "cuda/ptx.h"
#include "cuda/ptx/shared_numbers.h"
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace opsight::cuda {
namespace {
constexpr unsigned genericSpace = 0, globalSpace = 1;

/// What passes may know of the target: CUDA's address spaces, and nothing of NVIDIA's hardware, since the code goes to
/// other cards. Costs are LLVM's neutral ones.
class NeutralTarget : public llvm::TargetTransformInfoImplCRTPBase<NeutralTarget> {
public:
  explicit NeutralTarget(const llvm::DataLayout &layout) : TargetTransformInfoImplCRTPBase(layout) {}
  unsigned getFlatAddressSpace() const override { return genericSpace; }
  bool hasVolatileVariant(llvm::Instruction *, unsigned) const override { return true; }
  bool isValidAddrSpaceCast(unsigned from, unsigned to) const override {
    return from == to || from == genericSpace || to == genericSpace;
  }
};

/// Tells the optimiser that the kernel's pointer parameters point to global memory. InstCombine would fold the pair of
/// casts away, so address spaces are inferred right behind.
class PointToGlobalMemory : public llvm::PassInfoMixin<PointToGlobalMemory> {
public:
  static llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &) {
    if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel)
      return llvm::PreservedAnalyses::all();
    llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
    llvm::Type *global = builder.getPtrTy(globalSpace), *generic = builder.getPtrTy(genericSpace);
    for (llvm::Argument &argument : function.args()) {
      if (!argument.getType()->isPointerTy() || argument.hasByValAttr() || argument.use_empty())
        continue;
      llvm::Value *inGlobal = builder.CreateAddrSpaceCast(&argument, global);
      llvm::Value *back = builder.CreateAddrSpaceCast(inGlobal, generic);
      argument.replaceUsesWithIf(back, [&](llvm::Use &use) { return use.getUser() != inGlobal; });
    }
    return llvm::PreservedAnalyses::none();
  }
};

llvm::FunctionPassManager addressSpaces() {
  llvm::FunctionPassManager passes;
  passes.addPass(PointToGlobalMemory());
  passes.addPass(llvm::InferAddressSpacesPass(genericSpace));
  passes.addPass(llvm::ADCEPass()); // casts that nobody needs
  return passes;
}

/// Remembers on the variable itself that the source said __managed__ (opsight/attributes.h annotates it).
void markManaged(llvm::Module &ir) {
  const llvm::GlobalVariable *annotations = ir.getGlobalVariable("llvm.global.annotations");
  if (!annotations || !annotations->hasInitializer())
    return;
  for (const llvm::Use &use : annotations->getInitializer()->operands()) {
    const auto *entry = llvm::dyn_cast<llvm::ConstantStruct>(use);
    auto *variable = entry ? llvm::dyn_cast<llvm::GlobalVariable>(entry->getOperand(0)->stripPointerCasts()) : nullptr;
    llvm::StringRef text;
    if (variable && llvm::getConstantStringInfo(entry->getOperand(1), text) && text == "opsight.managed")
      variable->addAttribute("opsight-managed");
  }
}

/// Everything that can be inlined is: lowerings then see one function, and pointers their address spaces.
void inlineAll(llvm::Module &ir) {
  for (llvm::Function &function : ir) {
    if (function.isDeclaration() || function.getCallingConv() == llvm::CallingConv::PTX_Kernel)
      continue;
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

/// Attributes that bind functions to NVIDIA's hardware or tell passes less than is known.
void settleAttributes(llvm::Module &ir) {
  for (llvm::Function &function : ir) {
    for (const char *name : {"target-cpu", "target-features", "uniform-work-group-size", "stack-protector-buffer-size",
                             "no-trapping-math", "frame-pointer"})
      function.removeFnAttr(name);
    bool isMathematics = function.isDeclaration() && function.getName().starts_with("__nv_");
    bool takesPointer = llvm::any_of(function.args(), [](auto &a) { return a.getType()->isPointerTy(); });
    if (isMathematics && !takesPointer) {
      function.removeFnAttr(llvm::Attribute::Convergent);
      function.setDoesNotAccessMemory();
      function.setDoesNotThrow();
      function.setWillReturn();
    }
  }
  // A call carries its own copy of "convergent", which would keep mathematics from moving.
  for (llvm::Function &function : ir)
    for (llvm::User *user : function.users())
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(user); call && function.doesNotAccessMemory())
        call->removeFnAttr(llvm::Attribute::Convergent);
}

/// Passes with their analyses.
class Passes {
public:
  Passes() : builder(nullptr, tuning()) {
    functions.registerPass([] {
      return llvm::TargetIRAnalysis([](const llvm::Function &function) {
        return llvm::TargetTransformInfo(std::make_unique<NeutralTarget>(function.getDataLayout()));
      });
    });
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }

  void run(llvm::Module &ir, int level) {
    llvm::ModulePassManager passes;
    passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetimeIntrinsics=*/true));
    passes.addPass(llvm::GlobalDCEPass());
    llvm::FunctionPassManager early;
    early.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG)); // pointers out of memory, or no space is inferred
    early.addPass(llvm::EarlyCSEPass());
    early.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(early)));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(addressSpaces()));
    if (level > 0) {
      passes.addPass(builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3));
      // Unrolling frees more pointers from local arrays.
      passes.addPass(llvm::createModuleToFunctionPassAdaptor(addressSpaces()));
    }
    passes.addPass(llvm::GlobalDCEPass());
    passes.run(ir, modules);
  }

private:
  /// No vectors but the source's own: lanes are the lowering's to choose. Loops are unrolled fully where they are
  /// small, which frees register tiles, and as pragmas ask.
  static llvm::PipelineTuningOptions tuning() {
    llvm::PipelineTuningOptions options;
    options.LoopVectorization = false;
    options.LoopInterleaving = false;
    options.SLPVectorization = false;
    options.LoopUnrolling = true;
    options.MergeFunctions = false;
    return options;
  }

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};
} // namespace

Status reduceToKernel(llvm::Module &ir, const std::string &symbol) {
  llvm::Function *kernel = ir.getFunction(symbol);
  if (!kernel || kernel->isDeclaration())
    return internalError("Clang made no code for kernel '" + symbol + "'");
  markManaged(ir);
  // These lists exist to keep things alive that the kernel does not need.
  for (const char *list : {"llvm.used", "llvm.compiler.used", "llvm.global.annotations", "llvm.global_ctors",
                           "llvm.global_dtors"})
    if (llvm::GlobalVariable *variable = ir.getGlobalVariable(list, /*AllowInternal=*/true))
      variable->eraseFromParent();
  for (llvm::GlobalValue &value : ir.global_values())
    if (&value != kernel && !value.isDeclaration()) {
      value.setLinkage(llvm::GlobalValue::InternalLinkage);
      if (auto *object = llvm::dyn_cast<llvm::GlobalObject>(&value))
        object->setComdat(nullptr);
    }
  kernel->setLinkage(llvm::GlobalValue::ExternalLinkage);
  kernel->setComdat(nullptr);
  llvm::ModuleAnalysisManager analyses;
  llvm::PassBuilder().registerModuleAnalyses(analyses);
  llvm::GlobalDCEPass().run(ir, analyses);
  return {};
}

void optimise(llvm::Module &ir, int level) {
  translateInlinePtx(ir);
  inlineAll(ir);
  settleAttributes(ir);
  Passes().run(ir, level);
  ptx::foldSharedNumbers(ir);
}

} // namespace opsight::cuda
