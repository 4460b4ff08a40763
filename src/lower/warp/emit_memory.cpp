// Loads and stores of a whole warp. What the lanes' constants say of the addresses decides the form: one scalar for all,
// one vector, a few pieces, or, where nothing is known, a gather. Pieces are worth their instructions: a gather costs
// about as much as a load a lane.
#include "lower/warp/emitter.h"
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/Support/MathExtras.h>

namespace opsight::lower::warp {

using llvm::Value;

namespace {
/// Lanes first … first + count - 1 read elements side by side (step 1) or all the same one (step 0).
struct Run {
  unsigned first, count;
  int64_t offset;
  unsigned step;
};
} // namespace

constexpr unsigned mostRuns = 4; // beyond, a gather is shorter

static llvm::SmallVector<Run> runsOf(llvm::ArrayRef<int64_t> offsets, uint64_t bytes) {
  llvm::SmallVector<Run> runs;
  for (unsigned lane = 0; lane < offsets.size(); ++lane) {
    Run *last = runs.empty() ? nullptr : &runs.back();
    int64_t previous = lane ? offsets[lane - 1] : 0;
    bool same = last && offsets[lane] == previous, next = last && offsets[lane] == previous + int64_t(bytes);
    if (last && ((same && (last->count == 1 || last->step == 0)) || (next && (last->count == 1 || last->step == 1)))) {
      last->step = same ? 0 : 1;
      ++last->count;
    } else {
      runs.push_back({lane, 1, offsets[lane], 1});
    }
  }
  return runs;
}

static Value *at(llvm::IRBuilder<> &b, Value *base, int64_t offset) {
  return offset ? b.CreateGEP(b.getInt8Ty(), base, b.getInt64(uint64_t(offset))) : base;
}

static llvm::VectorType *vectorOf(llvm::Type *type, unsigned count) { return llvm::FixedVectorType::get(type, count); }

// A mask for `times` neighbouring elements a lane.
static Value *repeated(llvm::IRBuilder<> &b, Value *mask, unsigned lanes, unsigned times) {
  llvm::SmallVector<int> from;
  for (unsigned i = 0; i < lanes * times; ++i)
    from.push_back(int(i / times));
  return b.CreateShuffleVector(mask, from);
}

static Value *loadWide(llvm::IRBuilder<> &b, llvm::LoadInst &load, llvm::VectorType *type, Value *address, llvm::Align align,
                       Value *mask) {
  if (mask)
    return b.CreateMaskedLoad(type, address, align, mask, llvm::PoisonValue::get(type));
  return b.CreateAlignedLoad(type, address, align, load.isVolatile());
}

// `count` elements from `base`, in lanes chosen by `from`.
static Value *loadSpan(llvm::IRBuilder<> &b, llvm::Type *type, Value *base, int64_t first, unsigned count, llvm::Align align,
                       llvm::ArrayRef<int> from) {
  unsigned rounded = unsigned(llvm::PowerOf2Ceil(count));
  auto *wide = vectorOf(type, rounded);
  llvm::SmallVector<llvm::Constant *> there; // nothing past the last element that a thread reads is touched
  for (unsigned i = 0; i < rounded; ++i)
    there.push_back(b.getInt1(i < count));
  Value *address = at(b, base, first);
  Value *loaded = rounded == count ? static_cast<Value *>(b.CreateAlignedLoad(wide, address, align))
                                   : b.CreateMaskedLoad(wide, address, align, llvm::ConstantVector::get(there),
                                                        llvm::PoisonValue::get(wide));
  return b.CreateShuffleVector(loaded, from);
}

// Pieces into their lanes.
static Value *join(llvm::IRBuilder<> &b, Value *all, Value *piece, const Run &run, unsigned lanes) {
  llvm::SmallVector<int> spread(lanes, llvm::PoisonMaskElem), blend;
  unsigned width = llvm::cast<llvm::FixedVectorType>(piece->getType())->getNumElements();
  for (unsigned lane = 0; lane < lanes; ++lane) {
    bool own = lane >= run.first && lane < run.first + run.count;
    if (own)
      spread[lane] = int(std::min(lane - run.first, width - 1));
    blend.push_back(own ? int(lanes + lane) : int(lane));
  }
  Value *placed = b.CreateShuffleVector(piece, spread);
  return all ? b.CreateShuffleVector(all, placed, blend) : placed;
}

static Value *loadRuns(llvm::IRBuilder<> &b, llvm::Type *type, Value *base, llvm::ArrayRef<Run> runs, llvm::Align align,
                       unsigned lanes) {
  Value *all = nullptr;
  for (const Run &run : runs) {
    unsigned count = run.step ? run.count : 1;
    Value *piece = b.CreateAlignedLoad(vectorOf(type, count), at(b, base, run.offset), align);
    all = join(b, all, piece, run, lanes);
  }
  return all;
}

/// The unmasked load of a pattern, or null where a gather is as good.
static Value *loadPattern(Emitter &emitter, llvm::Type *type, Value *base, llvm::ArrayRef<int64_t> offsets, llvm::Align align) {
  uint64_t bytes = emitter.warp.getDataLayout().getTypeStoreSize(type);
  auto runs = runsOf(offsets, bytes);
  if (runs.size() <= mostRuns)
    return loadRuns(emitter.b, type, base, runs, align, emitter.lanes);
  auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
  uint64_t span = uint64_t(*most - *least) / bytes + 1;
  llvm::SmallVector<int> from;
  for (int64_t offset : offsets) {
    if ((offset - *least) % int64_t(bytes))
      return nullptr;
    from.push_back(int((offset - *least) / int64_t(bytes)));
  }
  if (span > 4 * emitter.lanes)
    return nullptr;
  return loadSpan(emitter.b, type, base, *least, unsigned(span), align, from);
}

static llvm::Align alignmentOf(llvm::Type *type, llvm::Align known, const llvm::DataLayout &layout) {
  return std::min(known, llvm::Align(llvm::bit_floor(std::max<uint64_t>(1, layout.getTypeStoreSize(type)))));
}

Status Emitter::load(llvm::LoadInst &load, Value *mask) {
  Value *pointer = load.getPointerOperand();
  Shape address = shape(pointer);
  if (address.isUniform() && !shape(&load).isVarying()) {
    define(&load, cloneScalar(load, mask));
    return {};
  }
  if (load.isAtomic() || load.getType()->isAggregateType())
    return serial(load, mask);
  auto *source = llvm::dyn_cast<llvm::FixedVectorType>(load.getType());
  llvm::Type *type = source ? source->getElementType() : load.getType();
  unsigned count = source ? source->getNumElements() : 1;
  const llvm::DataLayout &layout = warp.getDataLayout();
  uint64_t bytes = layout.getTypeStoreSize(type);
  if (type->isIntegerTy() && type->getIntegerBitWidth() % 8 != 0)
    return serial(load, mask);
  llvm::Align align = alignmentOf(type, load.getAlign(), layout);
  if (address.isUniform()) { // loaded anew by each thread all the same
    address.kind = Shape::Pattern;
    address.offsets.assign(lanes, 0);
  }
  if (address.isConsecutive(count * bytes)) {
    Value *wideMask = mask && count > 1 ? repeated(b, mask, lanes, count) : mask;
    Value *all = loadWide(b, load, vectorOf(type, lanes * count), at(b, scalar(pointer), address.offsets[0]), align, wideMask);
    Values values;
    for (unsigned part = 0; part < count; ++part) {
      llvm::SmallVector<int> from;
      for (unsigned lane = 0; lane < lanes; ++lane)
        from.push_back(int(lane * count + part));
      values.push_back(count == 1 ? all : b.CreateShuffleVector(all, from));
    }
    source ? defineParts(&load, values) : define(&load, values[0]);
    return {};
  }
  Values values;
  for (unsigned part = 0; part < count; ++part) {
    Value *value = nullptr;
    int64_t shift = int64_t(part * bytes);
    if (address.isPattern() && !mask) {
      llvm::SmallVector<int64_t, 32> offsets(address.offsets);
      for (int64_t &offset : offsets)
        offset += shift;
      value = loadPattern(*this, type, scalar(pointer), offsets, align);
    }
    if (!value) {
      Value *addresses = shift ? b.CreateGEP(b.getInt8Ty(), vector(pointer), b.getInt64(uint64_t(shift))) : vector(pointer);
      value = b.CreateMaskedGather(widened(type), addresses, align, mask ? mask : fullMask(),
                                   llvm::PoisonValue::get(widened(type)));
    }
    values.push_back(value);
  }
  source ? defineParts(&load, values) : define(&load, values[0]);
  return {};
}

// All threads write to one place: the last one's value stays.
static void storeOne(Emitter &emitter, llvm::StoreInst &store, Value *value, Value *mask) {
  llvm::IRBuilder<> &b = emitter.b;
  Value *address = emitter.scalar(store.getPointerOperand());
  Value *last = b.getInt64(emitter.lanes - 1);
  if (mask) {
    Value *bits = b.CreateZExtOrTrunc(emitter.bits(mask), b.getInt64Ty());
    last = b.CreateSub(b.getInt64(63), b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits, b.getInt1(false)));
  }
  b.CreateAlignedStore(b.CreateExtractElement(value, last), address, store.getAlign(), store.isVolatile());
}

static bool storeRuns(Emitter &emitter, Value *value, Value *base, llvm::ArrayRef<int64_t> offsets, uint64_t bytes,
                      llvm::Align align) {
  auto runs = runsOf(offsets, bytes);
  if (runs.size() > mostRuns && runs.size() > emitter.lanes / 4)
    return false;
  for (const Run &run : runs) {
    llvm::SmallVector<int> from;
    unsigned count = run.step ? run.count : 1;
    for (unsigned i = 0; i < count; ++i)
      from.push_back(int(run.step ? run.first + i : run.first + run.count - 1));
    emitter.b.CreateAlignedStore(emitter.b.CreateShuffleVector(value, from), at(emitter.b, base, run.offset), align);
  }
  return true;
}

Status Emitter::store(llvm::StoreInst &store, Value *mask) {
  Value *pointer = store.getPointerOperand(), *stored = store.getValueOperand();
  Shape address = shape(pointer);
  if (address.isUniform() && shape(stored).isUniform()) {
    b.CreateAlignedStore(scalar(stored), scalar(pointer), store.getAlign(), store.isVolatile());
    return {};
  }
  auto *target = llvm::dyn_cast<llvm::FixedVectorType>(stored->getType());
  llvm::Type *type = target ? target->getElementType() : stored->getType();
  bool odd = type->isIntegerTy() && type->getIntegerBitWidth() % 8 != 0;
  if (store.isAtomic() || stored->getType()->isAggregateType() || odd)
    return serial(store, mask);
  if (address.isUniform() && !target) {
    storeOne(*this, store, vector(stored), mask);
    return {};
  }
  const llvm::DataLayout &layout = warp.getDataLayout();
  unsigned count = target ? target->getNumElements() : 1;
  uint64_t bytes = layout.getTypeStoreSize(type);
  llvm::Align align = alignmentOf(type, store.getAlign(), layout);
  Values values = target ? parts(stored) : Values{vector(stored)};
  if (address.isConsecutive(count * bytes)) {
    Value *all = values[0];
    if (count > 1) {
      Value *joined = llvm::concatenateVectors(b, values);
      llvm::SmallVector<int> from;
      for (unsigned i = 0; i < lanes * count; ++i)
        from.push_back(int((i % count) * lanes + i / count));
      all = b.CreateShuffleVector(joined, from);
    }
    Value *place = at(b, scalar(pointer), address.offsets[0]);
    if (mask)
      b.CreateMaskedStore(all, place, align, count > 1 ? repeated(b, mask, lanes, count) : mask);
    else
      b.CreateAlignedStore(all, place, align, store.isVolatile());
    return {};
  }
  for (unsigned part = 0; part < count; ++part) {
    int64_t shift = int64_t(part * bytes);
    if (address.isPattern() && !mask) {
      llvm::SmallVector<int64_t, 32> offsets(address.offsets);
      for (int64_t &offset : offsets)
        offset += shift;
      if (storeRuns(*this, values[part], scalar(pointer), offsets, bytes, align))
        continue;
    }
    Value *addresses = shift ? b.CreateGEP(b.getInt8Ty(), vector(pointer), b.getInt64(uint64_t(shift))) : vector(pointer);
    b.CreateMaskedScatter(values[part], addresses, align, mask ? mask : fullMask());
  }
  return {};
}

} // namespace opsight::lower::warp
