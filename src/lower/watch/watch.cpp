// watch: a kernel that is lowered to be watched says of each access, barrier and basic block that it comes by, before
// it does (calls.h); Context::watch says what the numbers in the calls stand for. Runs before passes add accesses of
// their own: what is published is what the source does. A kernel under checks says the same in the form that they need.
#include "cuda/matrix.h"
#include "lower/kernel.h"
#include "lower/native/passes.h"
#include "lower/spirv/warp_operations.h"
#include "lower/watch/checker.h"
#include "lower/watch/line_counts.h"
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace opsight::lower::watch {

using card::Site, card::Space, card::WatchedObject;
using llvm::Instruction, llvm::IRBuilder, llvm::Value;

namespace {
/// One access of an instruction: copies have two, and two more where their length is known at run time only.
struct Touch {
  Site::Kind kind;
  Value *pointer;
  uint64_t bytes;
  llvm::Align align;
  Value *stored = nullptr;
  bool isVolatile = false;
};

class Instrumenter {
public:
  explicit Instrumenter(Context &context)
      : context_(context), layout_(context.module.getDataLayout()), watch_(std::make_shared<card::Watch>()) {}

  void run();

private:
  bool isChecked() const { return context_.target.watched == Watched::Checked; }
  void placeShared();
  void sayArrays();
  void countBlocks();
  void instrument(Instruction &instruction);
  void instrument(Instruction &instruction, const Touch &touch);
  void check(IRBuilder<> &b, uint32_t site, const Touch &touch, Value *base, Value *offset);
  void instrumentCopy(llvm::MemIntrinsic &call);
  void instrumentMatrix(llvm::CallInst &call, const cuda::MatrixLoad &load);
  int objectOf(Value *pointer, Value *&base);
  int add(Value *base, WatchedObject object);
  Value *addressOf(IRBuilder<> &b, const Touch &touch, Value *local);
  uint32_t addSite(Site site, const Instruction &instruction);

  Context &context_;
  const llvm::DataLayout &layout_;
  std::shared_ptr<card::Watch> watch_;
  llvm::DenseMap<const Value *, int> objects_;
  llvm::SmallVector<llvm::GlobalVariable *> shared_;
};
} // namespace

/// "kernel(float*)::tile" is the array that the source calls tile.
static std::string shortName(const llvm::GlobalVariable &variable) {
  std::string name = readableName(variable.getName());
  size_t end = name.rfind("::");
  return end == name.npos ? name : name.substr(end + 2);
}

static uint32_t elementBytes(const llvm::DataLayout &layout, llvm::Type *type) {
  while (auto *array = llvm::dyn_cast<llvm::ArrayType>(type))
    type = array->getElementType();
  return uint32_t(std::max<uint64_t>(1, layout.getTypeAllocSize(type)));
}

int Instrumenter::add(Value *base, WatchedObject object) {
  auto [at, fresh] = objects_.try_emplace(base, int(watch_->objects.size()));
  if (fresh)
    watch_->objects.push_back(std::move(object));
  return at->second;
}

/// Shared arrays lie as nvcc would lay them: in the order of the module, each at its alignment, the dynamic one behind.
void Instrumenter::placeShared() {
  uint64_t used = 0;
  llvm::SmallVector<llvm::GlobalVariable *> dynamic;
  for (llvm::GlobalVariable &variable : context_.module.globals()) {
    if (variable.getAddressSpace() != native::sharedSpace)
      continue;
    if (variable.isDeclaration()) {
      dynamic.push_back(&variable);
      continue;
    }
    llvm::Type *type = variable.getValueType();
    used = llvm::alignTo(used, std::max(variable.getAlign().valueOrOne(), layout_.getABITypeAlign(type)));
    add(&variable,
        {shortName(variable), Space::Shared, layout_.getTypeAllocSize(type), elementBytes(layout_, type), used});
    used += layout_.getTypeAllocSize(type);
    shared_.push_back(&variable);
  }
  for (llvm::GlobalVariable *variable : dynamic) {
    uint64_t start = llvm::alignTo(used, 16);
    add(variable,
        {shortName(*variable), Space::Shared, 0, elementBytes(layout_, variable->getValueType()), start, true});
    shared_.push_back(variable);
  }
}

/// Where this block has its arrays: for what is known by address alone.
void Instrumenter::sayArrays() {
  IRBuilder<> b(&*context_.kernel->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  if (isChecked())
    say(b, Say::Enter, 0);
  auto isUnknown = [](const Site &site) { return site.bytes && site.object < 0; };
  if (isChecked() && llvm::none_of(watch_->sites, isUnknown))
    return;
  for (llvm::GlobalVariable *variable : shared_)
    say(b, Say::Array, uint32_t(objects_.lookup(variable)),
        {b.CreatePtrToInt(b.CreateAddrSpaceCast(variable, b.getPtrTy()), b.getInt64Ty())});
}

/// The one object that `pointer` leads into, which `base` becomes; -1 where several are possible or none is known. Of
/// several, base becomes one that is a thread's own, if there is such a one.
int Instrumenter::objectOf(Value *pointer, Value *&base) {
  llvm::SmallVector<const Value *> bases;
  llvm::getUnderlyingObjects(pointer, bases, nullptr, /*MaxLookup=*/0);
  if (bases.size() != 1) {
    auto own = llvm::find_if(bases, [](const Value *each) { return llvm::isa<llvm::AllocaInst>(each); });
    base = own == bases.end() ? nullptr : const_cast<Value *>(*own);
    return -1;
  }
  base = const_cast<Value *>(bases[0]);
  if (auto *argument = llvm::dyn_cast<llvm::Argument>(base);
      argument && argument->getArgNo() < context_.manifest.parameters.size())
    return add(base, {context_.manifest.parameters[argument->getArgNo()].name, Space::Global});
  if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(base)) {
    if (variable->getAddressSpace() == native::sharedSpace)
      return objects_.lookup(variable);
    llvm::Type *type = variable->getValueType();
    return add(base, {readableName(variable->getName()), Space::Global, layout_.getTypeAllocSize(type),
                      elementBytes(layout_, type)});
  }
  if (auto *local = llvm::dyn_cast<llvm::AllocaInst>(base)) {
    llvm::Type *type = local->getAllocatedType();
    return add(base,
               {local->getName().str(), Space::Local, layout_.getTypeAllocSize(type), elementBytes(layout_, type)});
  }
  return -1;
}

/// How far `pointer` is behind the local array it leads into, without a use of the array itself that would keep it in
/// memory; null where it does not come from there by arithmetic alone.
static Value *offsetIn(IRBuilder<> &b, const llvm::DataLayout &layout, Value *pointer, const Value *array) {
  Value *offset = b.getInt64(0);
  while (pointer != array) {
    if (auto *element = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
      offset = b.CreateAdd(offset, b.CreateSExtOrTrunc(llvm::emitGEPOffset(&b, layout, element, /*NoAssumptions=*/true),
                                                       b.getInt64Ty()));
      pointer = element->getPointerOperand();
    } else if (auto *cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(pointer)) {
      pointer = cast->getPointerOperand();
    } else {
      return nullptr;
    }
  }
  return offset;
}

Value *Instrumenter::addressOf(IRBuilder<> &b, const Touch &touch, Value *local) {
  if (local)
    return offsetIn(b, layout_, touch.pointer, local);
  return b.CreatePtrToInt(b.CreateAddrSpaceCast(touch.pointer, b.getPtrTy()), b.getInt64Ty());
}

/// Up to 32 bits that tell two values apart; null where there are none.
static Value *folded(IRBuilder<> &b, const llvm::DataLayout &layout, Value *value) {
  llvm::Type *type = value->getType();
  if (type->isPointerTy())
    value = b.CreatePtrToInt(value, b.getInt64Ty());
  else if (type->isFloatingPointTy() || type->isVectorTy())
    value = type->getScalarType()->isPointerTy()
                ? nullptr
                : b.CreateBitCast(value, b.getIntNTy(unsigned(layout.getTypeSizeInBits(type))));
  else if (!type->isIntegerTy())
    return nullptr;
  if (!value)
    return nullptr;
  unsigned bits = value->getType()->getIntegerBitWidth();
  Value *word = b.CreateZExtOrTrunc(value, b.getInt32Ty());
  for (unsigned from = 32; from < bits; from += 32)
    word = b.CreateXor(b.CreateMul(word, b.getInt32(0x9E3779B1)),
                       b.CreateTrunc(b.CreateLShr(value, from), b.getInt32Ty()));
  return word;
}

uint32_t Instrumenter::addSite(Site site, const Instruction &instruction) {
  site.where = placeOf(instruction);
  watch_->sites.push_back(std::move(site));
  return uint32_t(watch_->sites.size() - 1);
}

static Space spaceOf(unsigned addressSpace, int object, const card::Watch &watch) {
  if (object >= 0)
    return watch.objects[size_t(object)].space;
  return addressSpace == native::sharedSpace ? Space::Shared : Space::Global;
}

void Instrumenter::instrument(Instruction &instruction, const Touch &touch) {
  Value *base = nullptr;
  int object = objectOf(touch.pointer, base);
  if (auto *argument = llvm::dyn_cast_or_null<llvm::Argument>(base); argument && argument->hasByValAttr())
    return; // the kernel's own copy of a structure
  // One of several, which the optimiser chooses between by a branch: where a thread's own array lies says nothing, and
  // told as an address of the card's it would look like a stray.
  if (object < 0 && base && llvm::isa<llvm::AllocaInst>(base))
    return;
  Space space = spaceOf(touch.pointer->getType()->getPointerAddressSpace(), object, *watch_);
  IRBuilder<> b(&instruction);
  Value *address = isChecked() && space != Space::Local ? touch.pointer
                                                        : addressOf(b, touch, space == Space::Local ? base : nullptr);
  if (!address)
    return;
  uint32_t site = addSite(
      {touch.kind, space, uint32_t(touch.bytes), uint32_t(touch.align.value()), object, touch.isVolatile}, instruction);
  if (isChecked()) {
    check(b, site, touch, object < 0 ? nullptr : base, address);
    return;
  }
  Value *value = touch.stored && space != Space::Local ? folded(b, layout_, touch.stored) : nullptr;
  value ? say(b, Say::Store, site, {address, value}) : say(b, Say::Access, site, {address});
}

/// `offset` is where in a local array.
void Instrumenter::check(IRBuilder<> &b, uint32_t number, const Touch &touch, Value *base, Value *offset) {
  const Site &site = watch_->sites[number];
  llvm::PointerType *generic = b.getPtrTy();
  if (site.space != Space::Local) {
    Value *start = base ? b.CreateAddrSpaceCast(base, generic) : llvm::ConstantPointerNull::get(generic);
    say(b, Say::Check, number, {b.CreateAddrSpaceCast(touch.pointer, generic), start});
    return;
  }
  uint64_t size = watch_->objects[size_t(site.object)].bytes;
  auto *known = llvm::dyn_cast<llvm::ConstantInt>(offset);
  if (!known || size < site.bytes || known->getValue().ugt(size - site.bytes) || known->getZExtValue() % site.alignment)
    say(b, Say::CheckLocal, number, {offset});
}

/// CUDA asks that an access of 1, 2, 4, 8 or 16 bytes is aligned to its size; others come in pieces.
static llvm::Align cudaAlignment(const llvm::DataLayout &layout, llvm::Type *type, llvm::Align said) {
  uint64_t bytes = layout.getTypeStoreSize(type);
  return bytes <= 16 && llvm::has_single_bit(bytes) ? std::min(llvm::Align(bytes), said) : llvm::Align(1);
}

/// Whether `load` reads what a compare-and-swap of the same word expects to find, at first or in each round of a loop:
/// the usual way to write an atomic operation that CUDA has not. Read while others write, it may be stale, never wrong.
/// The word may come in pieces, which are put together.
static bool isGuessOfExchange(const llvm::LoadInst &load, const llvm::DataLayout &layout) {
  constexpr size_t mostUsers = 64;
  auto placeOf = [&](const Value *pointer) {
    llvm::APInt offset(64, 0);
    const Value *base = pointer->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
    return std::pair(base, offset.getSExtValue());
  };
  auto [base, start] = placeOf(load.getPointerOperand());
  llvm::SmallSetVector<const Value *, 16> bits; // the load's, moved about
  bits.insert(&load);
  for (size_t i = 0; i < bits.size() && i < mostUsers; ++i)
    for (const llvm::User *user : bits[i]->users()) {
      if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(user)) {
        auto [word, first] = placeOf(exchange->getPointerOperand());
        int64_t bytes = int64_t(layout.getTypeStoreSize(exchange->getCompareOperand()->getType()));
        if (exchange->getCompareOperand() == bits[i] && word == base && start >= first && start < first + bytes)
          return true;
      }
      auto *instruction = llvm::dyn_cast<Instruction>(user);
      constexpr unsigned moves[] = {Instruction::Or,   Instruction::Shl,           Instruction::LShr,
                                    Instruction::ZExt, Instruction::Trunc,         Instruction::BitCast,
                                    Instruction::PHI,  Instruction::InsertElement, Instruction::ExtractElement};
      if (instruction && llvm::is_contained(moves, instruction->getOpcode()))
        bits.insert(user);
    }
  return false;
}

void Instrumenter::instrument(Instruction &instruction) {
  auto touch = [&](Site::Kind kind, Value *pointer, llvm::Type *type, llvm::Align align, bool isVolatile = false,
                   Value *stored = nullptr) {
    instrument(instruction, Touch{kind, pointer, layout_.getTypeStoreSize(type), cudaAlignment(layout_, type, align),
                                  stored, isVolatile});
  };
  IRBuilder<> b(&instruction);
  auto point = [&](card::Event event, Site::Kind kind, Value *more) {
    uint32_t site = addSite({kind}, instruction);
    say(b, Say::Point, site, {b.getInt32(uint32_t(event)), more});
  };
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    touch(load->isAtomic() || isGuessOfExchange(*load, layout_) ? Site::Kind::Atomic : Site::Kind::Load,
          load->getPointerOperand(), load->getType(), load->getAlign(), load->isVolatile());
  else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    touch(store->isAtomic() ? Site::Kind::Atomic : Site::Kind::Store, store->getPointerOperand(),
          store->getValueOperand()->getType(), store->getAlign(), store->isVolatile(), store->getValueOperand());
  else if (auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    touch(Site::Kind::Atomic, atomic->getPointerOperand(), atomic->getType(), atomic->getAlign());
  else if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    touch(Site::Kind::Atomic, exchange->getPointerOperand(), exchange->getNewValOperand()->getType(),
          exchange->getAlign());
  else if (llvm::isa<llvm::FenceInst>(instruction)) {
    if (!isChecked()) // it can only excuse what the checks take for a fault
      point(card::Event::Fence, Site::Kind::Fence, b.getInt32(0));
  } else if (spirv::isBlockBarrier(instruction))
    point(card::Event::Barrier, Site::Kind::Barrier, b.getInt32(0));
  else if (spirv::isGridBarrier(instruction))
    point(card::Event::GridBarrier, Site::Kind::Barrier, b.getInt32(0));
  else if (auto operation = spirv::asWarpOperation(instruction); operation && operation->kind == spirv::WarpKind::Sync)
    point(card::Event::WarpSync, Site::Kind::WarpSync, operation->mask);
  else if (auto *call = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction))
    instrumentCopy(*call);
  else if (auto matrices = cuda::asMatrixLoad(instruction))
    instrumentMatrix(llvm::cast<llvm::CallInst>(instruction), *matrices);
}

/// Each of the lanes whose addresses count reads a row; those of the others may be anything.
void Instrumenter::instrumentMatrix(llvm::CallInst &call, const cuda::MatrixLoad &load) {
  Instruction *at = &call;
  if (load.count < 4) {
    IRBuilder<> b(&call);
    Value *lane = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_laneid, {});
    Value *counts = b.CreateICmpULT(lane, b.getInt32(8 * load.count));
    at = llvm::SplitBlockAndInsertIfThen(counts, call.getIterator(), /*Unreachable=*/false);
  }
  instrument(*at, Touch{Site::Kind::Load, call.getArgOperand(0), 16, llvm::Align(16)});
}

/// Of a length known at run time only, the first byte and the last.
void Instrumenter::instrumentCopy(llvm::MemIntrinsic &call) {
  IRBuilder<> b(&call);
  auto *length = llvm::dyn_cast<llvm::ConstantInt>(call.getLength());
  auto side = [&](Site::Kind kind, Value *pointer) {
    if (length) {
      if (!length->isZero())
        instrument(call, Touch{kind, pointer, length->getZExtValue(), llvm::Align(1)});
      return;
    }
    Value *behind = b.CreateSub(call.getLength(), llvm::ConstantInt::get(call.getLength()->getType(), 1));
    for (Value *end : {pointer, b.CreateGEP(b.getInt8Ty(), pointer, behind)})
      instrument(call, Touch{kind, end, 1, llvm::Align(1)});
  };
  side(Site::Kind::Store, call.getRawDest());
  if (auto *copy = llvm::dyn_cast<llvm::MemTransferInst>(&call))
    side(Site::Kind::Load, copy->getRawSource());
}

void Instrumenter::countBlocks() {
  for (llvm::BasicBlock &block : *context_.kernel) {
    std::vector<card::LineCounts> counts = countLines(block);
    if (counts.empty())
      continue;
    IRBuilder<> b(&*block.getFirstNonPHIOrDbgOrAlloca());
    say(b, Say::Block, uint32_t(watch_->blocks.size()));
    watch_->blocks.push_back(std::move(counts));
  }
}

void Instrumenter::run() {
  using Kind = card::Parameter::Kind;
  appendParameter(context_, llvm::PointerType::get(context_.module.getContext(), 0),
                  {.name = isChecked() ? shadowName : ringName,
                   .kind = isChecked() ? Kind::Shadow : Kind::Watch,
                   .bytes = 8,
                   .alignment = 8});
  llvm::SmallVector<Instruction *> all;
  for (Instruction &instruction : llvm::instructions(*context_.kernel))
    all.push_back(&instruction);
  if (!isChecked())
    countBlocks();
  placeShared();
  if (!isChecked())
    sayArrays();
  for (Instruction *instruction : all)
    instrument(*instruction);
  if (isChecked())
    sayArrays();
  context_.watch = watch_;
}

static Status run(Context &context) {
  if (context.target.watched != Watched::No)
    Instrumenter(context).run();
  return {};
}

const Pass watch{"watch", "say what is accessed, and where warps come by", run};

} // namespace opsight::lower::watch
