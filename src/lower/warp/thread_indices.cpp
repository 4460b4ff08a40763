// thread_indices: threadIdx becomes arithmetic on the warp's number, which all its threads share, and the lane. With the
// block known, the parts that are the same for the whole warp stand apart, so that `threadIdx.y` of a 16×16 block is
// seen to be uniform and `threadIdx.x` a constant of the lane. blockIdx and gridDim are parameters.
#include "lower/kernel.h"
#include "lower/native/passes.h"
#include "lower/warp/divergence.h"
#include "lower/warp/passes.h"
#include <array>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace opsight::lower::warp {

using llvm::IRBuilder, llvm::Value;

namespace {
/// What remains to be split into coordinates: `common * extent + own`, where own < extent differs between lanes.
struct Split {
  Value *common;
  unsigned extent;
  Value *own; // null: 0, with extent 1
};
struct Coordinates {
  std::array<Value *, 3> thread{};
  Value *lane = nullptr, *linear = nullptr;
};
} // namespace

static Value *whole(IRBuilder<> &b, const Split &split) {
  Value *common = b.CreateMul(split.common, b.getInt32(split.extent), "", true, true);
  return split.own ? b.CreateAdd(common, split.own, "", true, true) : common;
}

// Takes one coordinate below `extent` off `rest`.
static Value *take(IRBuilder<> &b, Split &rest, unsigned extent) {
  if (extent % rest.extent == 0) { // whole vectors in a row: what is left is the same for all lanes
    unsigned vectors = extent / rest.extent;
    Split coordinate{b.CreateURem(rest.common, b.getInt32(vectors)), rest.extent, rest.own};
    rest = {b.CreateUDiv(rest.common, b.getInt32(vectors)), 1, nullptr};
    return whole(b, coordinate);
  }
  if (rest.extent % extent == 0) { // whole rows in a vector: the coordinate belongs to the lane alone
    Value *coordinate = b.CreateURem(rest.own, b.getInt32(extent));
    rest = {rest.common, rest.extent / extent, b.CreateUDiv(rest.own, b.getInt32(extent))};
    return coordinate;
  }
  Value *all = whole(b, rest);
  rest = {b.getInt32(0), 1u << 30, b.CreateUDiv(all, b.getInt32(extent))};
  return b.CreateURem(all, b.getInt32(extent));
}

static Coordinates createCoordinates(Context &context) {
  IRBuilder<> b(&*context.kernel->getEntryBlock().getFirstInsertionPt());
  unsigned lanes = context.target.lanes;
  const card::Dim3 &block = context.target.block;
  Coordinates result;
  Value *lane = createLane(b, lanes);
  Split rest{context.kernel->getArg(context.kernel->arg_size() - 1), lanes, lane};
  result.linear = whole(b, rest);
  result.lane = lanes == 32 ? lane : b.CreateURem(result.linear, b.getInt32(32));
  result.thread[0] = take(b, rest, block.x);
  result.thread[1] = take(b, rest, block.y);
  result.thread[2] = whole(b, rest);
  return result;
}

/// The value of special register `name` ("tid.x"), or null where it is none of ours.
static Value *valueOf(IRBuilder<> &b, Context &context, const Coordinates &at, llvm::StringRef name, llvm::Type *type) {
  auto [what, axisName] = name.split('.');
  size_t axis = llvm::StringRef("xyz").find(axisName.empty() ? 'x' : axisName[0]);
  const uint32_t extents[] = {context.target.block.x, context.target.block.y, context.target.block.z};
  if (what == "tid")
    return at.thread[axis];
  if (what == "ntid")
    return llvm::ConstantInt::get(type, extents[axis]);
  if (what == "ctaid")
    return findArgument(*context.kernel, native::blockNames[axis]);
  if (what == "nctaid")
    return findArgument(*context.kernel, native::gridNames[axis]);
  if (what == "laneid")
    return at.lane;
  if (what == "warpid")
    return b.CreateUDiv(at.linear, b.getInt32(32));
  if (what == "warpsize")
    return llvm::ConstantInt::get(type, 32);
  if (what == "clock" || what == "clock64" || what == "globaltimer")
    return b.CreateTrunc(b.CreateIntrinsic(b.getInt64Ty(), llvm::Intrinsic::readcyclecounter, {}), type);
  return nullptr;
}

unsigned vectorsOf(const Context &context) {
  return unsigned((context.target.block.count() + context.target.lanes - 1) / context.target.lanes);
}

static void addParameters(Context &context) {
  llvm::LLVMContext &llvm = context.module.getContext();
  llvm::SmallVector<llvm::Type *> types(context.kernel->getFunctionType()->params());
  unsigned first = unsigned(types.size());
  types.append(6, llvm::Type::getInt32Ty(llvm));
  types.append(2, llvm::PointerType::get(llvm, 0));
  types.push_back(llvm::Type::getInt32Ty(llvm));
  llvm::Function *old = replaceSignature(context, types);
  for (llvm::Argument &argument : old->args())
    argument.replaceAllUsesWith(context.kernel->getArg(argument.getArgNo()));
  old->eraseFromParent();
  const char *names[] = {native::blockNames[0], native::blockNames[1], native::blockNames[2], native::gridNames[0],
                         native::gridNames[1],  native::gridNames[2],  sharedName,            staticName, warpName};
  for (const char *name : names)
    context.kernel->getArg(first++)->setName(name);
  context.kernel->getArg(first - 1)->addAttr(llvm::Attribute::get(
      llvm, llvm::Attribute::Range, llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, vectorsOf(context)))));
}

static Status run(Context &context) {
  addParameters(context);
  llvm::SmallVector<llvm::IntrinsicInst *> reads;
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel))
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
      if (call->getCalledFunction()->getName().starts_with("llvm.nvvm.read.ptx.sreg."))
        reads.push_back(call);
  Coordinates at = createCoordinates(context);
  for (llvm::IntrinsicInst *call : reads) {
    IRBuilder<> b(call);
    llvm::StringRef name = call->getCalledFunction()->getName();
    name.consume_front("llvm.nvvm.read.ptx.sreg.");
    Value *value = valueOf(b, context, at, name, call->getType());
    if (!value)
      continue; // refuse_unknown names it
    call->replaceAllUsesWith(value);
    call->eraseFromParent();
  }
  return {};
}

const Pass thread_indices{"thread_indices", "thread indices become the warp's number and the lane", run};

} // namespace opsight::lower::warp
