// See matrix.h. A call's name says all: "__opsight_mma_k16_f16_f16_f32", "__opsight_ldmatrix_x4_trans".
#include "cuda/matrix.h"
#include <array>
#include <llvm/IR/Module.h>

namespace opsight::cuda {

using llvm::CallInst, llvm::StringRef, llvm::Type, llvm::Value;

static constexpr StringRef productPrefix = "__opsight_mma_k", loadPrefix = "__opsight_ldmatrix_x";
static constexpr std::array<StringRef, 5> elementNames = {"f16", "bf16", "tf32", "s8", "u8"};
static constexpr std::array<StringRef, 3> sumNames = {"f32", "f16", "s32"};

unsigned MatrixProduct::elementsPerWord() const {
  return a == MatrixElement::TFloat ? 1 : a == MatrixElement::Half || a == MatrixElement::BFloat ? 2 : 4;
}

static CallInst *createWarpCall(llvm::IRBuilder<> &b, const std::string &name, Type *result,
                                llvm::ArrayRef<Value *> arguments, llvm::MemoryEffects effects) {
  llvm::SmallVector<Type *> types;
  for (Value *argument : arguments)
    types.push_back(argument->getType());
  llvm::Module *module = b.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee = module->getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  auto *function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setMemoryEffects(effects);
  function->setDoesNotThrow();
  function->setWillReturn();
  function->setConvergent(); // not to be moved to where fewer lanes come
  CallInst *call = b.CreateCall(callee, arguments);
  call->setConvergent();
  return call;
}

CallInst *createMatrixProduct(llvm::IRBuilder<> &b, const MatrixProduct &product, llvm::ArrayRef<Value *> words) {
  Type *sum = product.sum == MatrixSum::Float ? b.getFloatTy() : b.getInt32Ty();
  llvm::SmallVector<Type *> results(product.sums(), sum);
  std::string name = productPrefix.str() + std::to_string(product.depth) + "_" + elementNames[size_t(product.a)].str() +
                     "_" + elementNames[size_t(product.b)].str() + "_" + sumNames[size_t(product.sum)].str();
  return createWarpCall(b, name, llvm::StructType::get(b.getContext(), results), words, llvm::MemoryEffects::none());
}

CallInst *createMatrixLoad(llvm::IRBuilder<> &b, const MatrixLoad &load, Value *address) {
  llvm::SmallVector<Type *> results(load.count, b.getInt32Ty());
  std::string name = loadPrefix.str() + std::to_string(load.count) + (load.transposed ? "_trans" : "");
  return createWarpCall(b, name, llvm::StructType::get(b.getContext(), results), address,
                        llvm::MemoryEffects::readOnly());
}

static StringRef calleeName(const Value &value) {
  auto *call = llvm::dyn_cast<CallInst>(&value);
  return call && call->getCalledFunction() ? call->getCalledFunction()->getName() : StringRef();
}

std::optional<MatrixProduct> asMatrixProduct(const Value &value) {
  StringRef name = calleeName(value);
  if (!name.consume_front(productPrefix))
    return std::nullopt;
  llvm::SmallVector<StringRef> words;
  name.split(words, '_');
  MatrixProduct product;
  words[0].getAsInteger(10, product.depth);
  auto element = [&](StringRef word) { return MatrixElement(llvm::find(elementNames, word) - elementNames.begin()); };
  product.a = element(words[1]);
  product.b = element(words[2]);
  product.sum = MatrixSum(llvm::find(sumNames, words[3]) - sumNames.begin());
  return product;
}

std::optional<MatrixLoad> asMatrixLoad(const Value &value) {
  StringRef name = calleeName(value);
  if (!name.consume_front(loadPrefix))
    return std::nullopt;
  MatrixLoad load{.transposed = name.consume_back("_trans")};
  name.getAsInteger(10, load.count);
  return load;
}

} // namespace opsight::cuda
