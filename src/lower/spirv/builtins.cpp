// See builtins.h. The mangling is Itanium's, of which OpenCL builtins over scalars and vectors need a corner only.
#include "lower/spirv/builtins.h"
#include <llvm/IR/Module.h>

namespace opsight::lower::spirv {

static std::string mangleScalar(llvm::Type *type, bool isUnsigned) {
  if (type->isHalfTy())
    return "Dh";
  if (type->isFloatTy())
    return "f";
  if (type->isDoubleTy())
    return "d";
  switch (type->getIntegerBitWidth()) {
  case 8: return isUnsigned ? "h" : "c";
  case 16: return isUnsigned ? "t" : "s";
  case 32: return isUnsigned ? "j" : "i";
  default: return isUnsigned ? "m" : "l";
  }
}

// A vector seen before is a substitution; our builtins repeat at most one vector type.
static std::string mangleArguments(llvm::ArrayRef<llvm::Value *> arguments, bool isUnsigned) {
  std::string text;
  llvm::Type *vectorSeen = nullptr;
  for (llvm::Value *argument : arguments) {
    llvm::Type *type = argument->getType();
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    if (!vector)
      text += mangleScalar(type, isUnsigned);
    else if (vectorSeen == type)
      text += "S_";
    else {
      text += "Dv" + std::to_string(vector->getNumElements()) + "_" + mangleScalar(vector->getElementType(), isUnsigned);
      vectorSeen = type;
    }
  }
  return text;
}

llvm::CallInst *callBuiltin(llvm::IRBuilderBase &builder, llvm::StringRef name, llvm::Type *result,
                            llvm::ArrayRef<llvm::Value *> arguments, bool isUnsigned, bool convergent) {
  std::string mangled = "_Z" + std::to_string(name.size()) + name.str() + mangleArguments(arguments, isUnsigned);
  llvm::SmallVector<llvm::Type *> types;
  for (llvm::Value *argument : arguments)
    types.push_back(argument->getType());
  llvm::Module *module = builder.GetInsertBlock()->getModule();
  auto callee = module->getOrInsertFunction(mangled, llvm::FunctionType::get(result, types, false));
  auto *function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setCallingConv(llvm::CallingConv::SPIR_FUNC);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  if (convergent) {
    function->addFnAttr(llvm::Attribute::Convergent);
  } else {
    function->setDoesNotAccessMemory();
    function->addFnAttr(llvm::Attribute::WillReturn);
  }
  llvm::CallInst *call = builder.CreateCall(callee, arguments);
  call->setCallingConv(llvm::CallingConv::SPIR_FUNC);
  return call;
}

llvm::CallInst *callBlockBarrier(llvm::IRBuilderBase &builder) {
  constexpr uint32_t localAndGlobalFence = 3; // CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE
  return callBuiltin(builder, "barrier", builder.getVoidTy(), {builder.getInt32(localAndGlobalFence)},
                     /*isUnsigned=*/true, /*convergent=*/true);
}

llvm::Value *callIndex(llvm::IRBuilderBase &builder, llvm::StringRef name, unsigned dimension) {
  llvm::Value *wide = callBuiltin(builder, name, builder.getInt64Ty(), {builder.getInt32(dimension)}, true);
  return builder.CreateTrunc(wide, builder.getInt32Ty());
}

llvm::Value *callLinearThread(llvm::IRBuilderBase &builder) {
  llvm::Value *number = callIndex(builder, "get_local_id", 2);
  for (unsigned dimension : {1u, 0u})
    number = builder.CreateAdd(builder.CreateMul(number, callIndex(builder, "get_local_size", dimension)),
                               callIndex(builder, "get_local_id", dimension));
  return number;
}

} // namespace opsight::lower::spirv
