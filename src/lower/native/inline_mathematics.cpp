// inline_mathematics: calls of elementary functions become the code of our own, from the library in mathematics/:
// scalar, without branches, calls or memory, so that what turns threads into lanes can turn it too. A call of libm
// would be made lane by lane, and clobber every vector register.
//
// The library is the table: what it defines is inlined, what it lacks stays a call, for libm_calls. CUDA's `__nv_NAME`
// is `opsight_NAME` there; LLVM's intrinsics have the C library's names, with an f for float. Half is computed in
// float. Each function's source says by how much it errs.
#include "lower/bitcode_library.h"
#include "lower/native/host.h"
#include "lower/native/passes.h"
#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Transforms/Utils/Cloning.h>

extern const unsigned char opsight_mathematics[];
extern const unsigned long opsight_mathematics_size;

namespace opsight::lower::native {

using llvm::Intrinsic::ID, llvm::Value, llvm::Instruction;

/// "exp", "frem" …: the C library's name for what `instruction` computes; empty if it is no elementary function.
static std::string nameOf(const Instruction &instruction) {
  if (instruction.getOpcode() == Instruction::FRem)
    return "fmod";
  auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
  if (!callee)
    return {};
  if (ID id = callee->getIntrinsicID())
    return llvm::Intrinsic::getBaseName(id).drop_front(strlen("llvm.")).str();
  llvm::StringRef name = callee->getName();
  if (!name.consume_front("__nv_"))
    return {};
  if (callee->getReturnType()->isFloatTy())
    name.consume_back("f");
  return name.str();
}

namespace {
class Inliner {
public:
  Inliner(Context &context, const llvm::Module &library, bool scales)
      : module_(context.module), kernel_(*context.kernel), library_(library), scales_(scales) {}

  void redirect() {
    for (Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(kernel_)))
      if (std::string name = nameOf(instruction); !name.empty())
        redirect(instruction, name);
  }
  bool found() const { return found_; }

private:
  llvm::Module &module_;
  llvm::Function &kernel_;
  const llvm::Module &library_;
  bool scales_, found_ = false;

  const llvm::Function *find(llvm::StringRef name, llvm::Type *type) const {
    if (!type->isFloatTy() && !type->isDoubleTy())
      return nullptr;
    return library_.getFunction(fmt::format("opsight_{}{}", name.str(), type->isFloatTy() ? "f" : ""));
  }

  Value *call(llvm::IRBuilder<> &b, const llvm::Function &function, llvm::ArrayRef<Value *> arguments) {
    found_ = true;
    return b.CreateCall(module_.getOrInsertFunction(function.getName(), function.getFunctionType()), arguments);
  }

  void redirect(Instruction &instruction, llvm::StringRef name) {
    llvm::IRBuilder<> b(&instruction);
    llvm::SmallVector<Value *> arguments;
    for (Value *operand : instruction.operands())
      if (!llvm::isa<llvm::Function>(operand))
        arguments.push_back(operand);
    Value *result = nullptr;
    if (name == "ldexp" && scales_)
      return;
    if (name == "frexp")
      result = frexp(b, instruction.getType(), arguments[0]);
    else if (instruction.getType()->isHalfTy())
      result = inFloat(b, name, arguments);
    else if (const llvm::Function *function = find(name, instruction.getType());
             function && accepts(*function, arguments))
      result = call(b, *function, arguments);
    if (!result)
      return;
    instruction.replaceAllUsesWith(result);
    instruction.eraseFromParent();
  }

  static bool accepts(const llvm::Function &function, llvm::ArrayRef<Value *> arguments) {
    return llvm::equal(function.getFunctionType()->params(), arguments,
                       [](llvm::Type *type, Value *argument) { return type == argument->getType(); });
  }

  Value *inFloat(llvm::IRBuilder<> &b, llvm::StringRef name, llvm::ArrayRef<Value *> arguments) {
    const llvm::Function *function = find(name, b.getFloatTy());
    llvm::SmallVector<Value *> wide;
    for (Value *argument : arguments)
      wide.push_back(argument->getType()->isHalfTy() ? b.CreateFPExt(argument, b.getFloatTy()) : argument);
    if (!function || !accepts(*function, wide))
      return nullptr;
    return b.CreateFPTrunc(call(b, *function, wide), b.getHalfTy());
  }

  Value *frexp(llvm::IRBuilder<> &b, llvm::Type *type, Value *argument) {
    const llvm::Function *fraction = find("frexp_fraction", argument->getType());
    const llvm::Function *exponent = find("frexp_exponent", argument->getType());
    if (!fraction || !exponent || !type->getStructElementType(1)->isIntegerTy(32))
      return nullptr;
    Value *pair = b.CreateInsertValue(llvm::PoisonValue::get(type), call(b, *fraction, {argument}), 0);
    return b.CreateInsertValue(pair, call(b, *exponent, {argument}), 1);
  }
};
} // namespace

/// With AVX-512 the library's scaling by a power of two is one instruction, which LLVM knows as ldexp.
static void useScaleInstruction(llvm::Module &library) {
  for (const char *name : {"opsight_scalef", "opsight_scale"}) {
    llvm::Function *function = library.getFunction(name);
    function->deleteBody();
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(library.getContext(), "", function));
    b.CreateRet(b.CreateLdexp(function->getArg(0), function->getArg(1)));
  }
}

static bool isOurs(const llvm::Function &function) { return function.getName().starts_with("opsight_"); }

static Status inlineCalls(Context &context) {
  llvm::SmallVector<llvm::CallBase *> calls;
  for (Instruction &instruction : llvm::instructions(*context.kernel))
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      calls.push_back(call);
  while (!calls.empty()) {
    llvm::CallBase *call = calls.pop_back_val();
    llvm::Function *callee = call->getCalledFunction();
    if (!callee || callee->isDeclaration() || !isOurs(*callee))
      continue;
    llvm::InlineFunctionInfo info;
    if (llvm::InlineResult done = llvm::InlineFunction(*call, info); !done.isSuccess())
      return internalError(
          fmt::format("a function of the mathematics library cannot be inlined: {}", done.getFailureReason()));
    calls.append(info.InlinedCallSites.begin(), info.InlinedCallSites.end());
  }
  llvm::SmallVector<llvm::Function *> library;
  for (llvm::Function &function : context.module)
    if (isOurs(function) && &function != context.kernel)
      library.push_back(&function);
  for (llvm::Function *function : library)
    function->deleteBody(); // they use each other
  for (llvm::Function *function : library)
    function->eraseFromParent();
  return {};
}

static Status run(Context &context) {
  auto machine = targetMachine(context.target.processor);
  if (!machine)
    return std::unexpected(machine.error());
  bool scales = (*machine)->getMCSubtargetInfo()->checkFeatures("+avx512f,+avx512vl");
  auto library = openBitcode("mathematics", opsight_mathematics, opsight_mathematics_size, context.module);
  if (!library)
    return std::unexpected(library.error());
  if (scales)
    useScaleInstruction(**library);
  Inliner inliner(context, **library, scales);
  inliner.redirect();
  if (!inliner.found())
    return {};
  if (llvm::Linker::linkModules(context.module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return internalError("the mathematics library cannot be linked");
  return inlineCalls(context);
}

const Pass inline_mathematics{"inline_mathematics", "elementary functions become code without calls", run};

} // namespace opsight::lower::native
