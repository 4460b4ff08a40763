// See warp_uniformity.h. LLVM's uniformity analysis thinks in warps, but knows of threadIdx.x only that it differs, and of
// what a call gives nothing. So it is asked about a copy of the kernel in which threadIdx is spelled as what it is in
// whole-warp rows: 32 times the warp's number in its row, plus the lane; InstCombine then finds what depends on the warp
// alone (threadIdx.x / 32). Of calls, mathematics gives a warp's threads the same where it is handed the same; a vote or
// reduction over a constant mask, and a shuffle in which all read one lane, whatever they are handed. In the copy each of
// these results is a load from memory that all share, at an address made of what it depends on.
#include "lower/spirv/warp_uniformity.h"
#include "lower/analyses.h"
#include "lower/spirv/block_uniformity.h"
#include "lower/spirv/warp_operations.h"
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace opsight::lower::spirv {

using llvm::Value;

bool warpsLieInRows(const card::Dim3 &block) { return block.x % 32 == 0 || (block.y == 1 && block.z == 1); }

namespace {
/// The copy, and its arguments behind the kernel's own: what all threads of a warp have in common.
struct Copy {
  explicit Copy(llvm::Function &kernel, const card::Dim3 &block);
  ~Copy() { function->eraseFromParent(); }
  void spellIndices();
  void followCalls();
  void dependOn(llvm::CallInst &call, llvm::ArrayRef<Value *> values);
  Value *spelled(llvm::IRBuilderBase &builder, llvm::Intrinsic::ID what);

  card::Dim3 block;
  llvm::Function *function;
  llvm::Argument *warpInRow, *y, *z, *memory;
};
} // namespace

Copy::Copy(llvm::Function &kernel, const card::Dim3 &block) : block(block) {
  llvm::SmallVector<llvm::Type *> types(kernel.getFunctionType()->params());
  types.append(3, llvm::Type::getInt32Ty(kernel.getContext()));
  types.push_back(llvm::PointerType::get(kernel.getContext(), globalSpace));
  auto *type = llvm::FunctionType::get(kernel.getReturnType(), types, false);
  function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, kernel.getName() + ".warps",
                                    kernel.getParent());
  llvm::ValueToValueMapTy values;
  for (llvm::Argument &argument : kernel.args())
    values[&argument] = function->getArg(argument.getArgNo());
  llvm::SmallVector<llvm::ReturnInst *> returns;
  llvm::CloneFunctionInto(function, &kernel, values, llvm::CloneFunctionChangeType::LocalChangesOnly, returns);
  unsigned own = kernel.arg_size();
  warpInRow = function->getArg(own), y = function->getArg(own + 1), z = function->getArg(own + 2);
  memory = function->getArg(own + 3);
  auto bound = [&](llvm::Argument *argument, uint32_t count) {
    llvm::ConstantRange range(llvm::APInt(32, 0), llvm::APInt(32, count));
    argument->addAttr(llvm::Attribute::get(kernel.getContext(), llvm::Attribute::Range, range));
  };
  bound(warpInRow, (block.x + 31) / 32), bound(y, block.y), bound(z, block.z);
}

Value *Copy::spelled(llvm::IRBuilderBase &b, llvm::Intrinsic::ID what) {
  switch (what) {
  case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x: {
    llvm::CallInst *lane = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_laneid, {});
    lane->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, 32)));
    return b.CreateOr(b.CreateShl(warpInRow, 5, "", /*HasNUW=*/true, /*HasNSW=*/true), lane, "", /*IsDisjoint=*/true);
  }
  case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y: return y;
  case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z: return z;
  case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x: return b.getInt32(block.x);
  case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y: return b.getInt32(block.y);
  case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_z: return b.getInt32(block.z);
  default: return nullptr;
  }
}

void Copy::spellIndices() {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*function)))
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
      llvm::IRBuilder<> builder(call);
      if (Value *value = spelled(builder, call->getIntrinsicID())) {
        call->replaceAllUsesWith(value);
        call->eraseFromParent();
      }
    }
}

// What `call` depends on, for a warp that reaches it whole; nothing where lanes may differ however they are handed the same.
static std::optional<llvm::SmallVector<Value *>> dependencies(llvm::CallInst &call) {
  if (!call.getCalledFunction())
    return std::nullopt;
  llvm::StringRef name = call.getCalledFunction()->getName();
  if (auto operation = asWarpOperation(call)) {
    if (!operation->mask || !llvm::isa<llvm::Constant>(operation->mask))
      return std::nullopt;
    if (operation->kind == WarpKind::ShuffleIndex && llvm::PatternMatch::match(operation->clamp, llvm::PatternMatch::m_SpecificInt(31)))
      return {{operation->lane}};
    bool votes = operation->kind >= WarpKind::Ballot && operation->kind <= WarpKind::All;
    bool reduces = operation->kind >= WarpKind::ReduceAdd && operation->kind <= WarpKind::ReduceXor;
    return votes || reduces ? std::optional(llvm::SmallVector<Value *>{}) : std::nullopt;
  }
  if (isBlockBarrier(call) || name.contains("sreg.ctaid.") || name.contains("sreg.nctaid."))
    return llvm::SmallVector<Value *>{};
  bool isMathematics = call.doesNotAccessMemory() && !call.isConvergent() && !name.starts_with("llvm.nvvm.");
  return isMathematics ? std::optional(llvm::SmallVector<Value *>(call.args())) : std::nullopt;
}

void Copy::dependOn(llvm::CallInst &call, llvm::ArrayRef<Value *> values) {
  llvm::IRBuilder<> b(call.getNextNode());
  Value *address = b.getInt64(0);
  for (Value *value : values) {
    llvm::Type *type = value->getType();
    if (type->isFloatingPointTy())
      value = b.CreateBitCast(value, b.getIntNTy(unsigned(type->getPrimitiveSizeInBits())));
    else if (!type->isIntegerTy())
      return; // vectors and pointers stay unknown
    address = b.CreateXor(address, b.CreateZExtOrTrunc(value, b.getInt64Ty()));
  }
  Value *result = b.CreateLoad(call.getType(), b.CreateGEP(b.getInt8Ty(), memory, address));
  call.replaceAllUsesWith(result);
}

void Copy::followCalls() {
  llvm::SmallVector<llvm::CallInst *> calls;
  for (llvm::Instruction &instruction : llvm::instructions(*function))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && !call->use_empty())
      calls.push_back(call);
  for (llvm::CallInst *call : calls)
    if (auto values = dependencies(*call))
      dependOn(*call, *values);
}

llvm::SmallVector<SourcePlace> reachedByPartOfAWarp(llvm::Function &kernel, const card::Dim3 &block) {
  Copy copy(kernel, block);
  copy.spellIndices();
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::InstCombinePass());
  simplify.addPass(llvm::EarlyCSEPass());
  runFunctionPasses(*copy.function, simplify);
  copy.followCalls();
  readStructsFromShared(*copy.function);
  llvm::SmallVector<SourcePlace> places;
  for (llvm::CallInst *call : decidedByThreads(*copy.function))
    if (asWarpOperation(*call))
      places.push_back(placeOf(*call));
  return places;
}

} // namespace opsight::lower::spirv
