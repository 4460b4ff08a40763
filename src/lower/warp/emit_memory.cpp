// Loads and stores of a whole warp. What the lanes' constants say of the addresses decides the form: one scalar for
// all, one vector, a few pieces, or, where nothing is known, a gather. Pieces are worth their instructions: a gather
// costs about as much as a load a lane.
#include "lower/warp/deinterleave.h"
#include "lower/warp/emit_rows.h"
#include "lower/warp/hope.h"
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/Support/MathExtras.h>

namespace opsight::lower::warp {

using llvm::Value;

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

// `count` elements from `base`, in lanes chosen by `from`.
static Value *loadSpan(llvm::IRBuilder<> &b, llvm::Type *type, Value *base, int64_t first, unsigned count,
                       llvm::Align align, llvm::ArrayRef<int> from) {
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
static Value *loadPattern(Emitter &emitter, llvm::Type *type, Value *base, llvm::ArrayRef<int64_t> offsets,
                          llvm::Align align) {
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

namespace {
/// What a load or store moves: `count` neighbouring elements of each thread.
struct Access {
  llvm::Type *type;
  unsigned count;
  llvm::Align align;
  bool isVolatile;
};
} // namespace

// The threads' elements lie side by side from `place` on.
static Emitter::Values loadSideBySide(Emitter &emitter, const Access &access, Value *place, Value *mask) {
  llvm::IRBuilder<> &b = emitter.b;
  auto [type, count, align, isVolatile] = access;
  unsigned lanes = emitter.lanes;
  if (!mask && count > 1 && llvm::isPowerOf2_32(count) && !isVolatile) {
    Emitter::Values vectors;
    uint64_t bytes = lanes * emitter.warp.getDataLayout().getTypeStoreSize(type);
    for (unsigned i = 0; i < count; ++i)
      vectors.push_back(b.CreateAlignedLoad(vectorOf(type, lanes), at(b, place, int64_t(i * bytes)), align));
    return deinterleave(b, std::move(vectors));
  }
  auto *wide = vectorOf(type, lanes * count);
  Value *wideMask = mask && count > 1 ? repeated(b, mask, lanes, count) : mask;
  Value *all =
      mask ? static_cast<Value *>(b.CreateMaskedLoad(wide, place, align, wideMask, llvm::PoisonValue::get(wide)))
           : b.CreateAlignedLoad(wide, place, align, isVolatile);
  Emitter::Values values;
  for (unsigned part = 0; part < count; ++part) {
    llvm::SmallVector<int> from;
    for (unsigned lane = 0; lane < lanes; ++lane)
      from.push_back(int(lane * count + part));
    values.push_back(count == 1 ? all : b.CreateShuffleVector(all, from));
  }
  return values;
}

static Value *loadGroups(Emitter &emitter, const Access &access, const GroupHope &hope) {
  Emitter::Values pieces;
  for (Value *first : hope.firsts)
    pieces.push_back(emitter.b.CreateAlignedLoad(vectorOf(access.type, hope.group), first, access.align));
  return llvm::concatenateVectors(emitter.b, pieces);
}

static void storeGroups(Emitter &emitter, const Access &access, Value *value, const GroupHope &hope) {
  for (size_t i = 0; i < hope.firsts.size(); ++i) {
    auto from = llvm::createSequentialMask(unsigned(i) * hope.group, hope.group, 0);
    emitter.b.CreateAlignedStore(emitter.b.CreateShuffleVector(value, from), hope.firsts[i], access.align);
  }
}

static Value *addressesOf(Emitter &emitter, const Access &access, Value *pointer, unsigned part) {
  llvm::IRBuilder<> &b = emitter.b;
  Value *addresses = emitter.vector(pointer);
  uint64_t shift = part * emitter.warp.getDataLayout().getTypeStoreSize(access.type);
  return shift ? b.CreateGEP(b.getInt8Ty(), addresses, b.getInt64(shift)) : addresses;
}

static Value *gatherPart(Emitter &emitter, const Access &access, Value *pointer, Value *mask, unsigned part) {
  llvm::Type *wide = emitter.widened(access.type);
  return emitter.b.CreateMaskedGather(wide, addressesOf(emitter, access, pointer, part), access.align,
                                      mask ? mask : emitter.fullMask(), llvm::PoisonValue::get(wide));
}

static Emitter::Values gather(Emitter &emitter, const Access &access, Value *pointer, Value *mask) {
  Emitter::Values values;
  for (unsigned part = 0; part < access.count; ++part)
    values.push_back(gatherPart(emitter, access, pointer, mask, part));
  return values;
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
  auto finish = [&](const Values &values) { source ? defineParts(&load, values) : define(&load, values[0]); };
  Access access{type, count, align, load.isVolatile()};
  if (address.isConsecutive(count * bytes)) {
    finish(loadSideBySide(*this, access, at(b, scalar(pointer), address.offsets[0]), mask));
    return {};
  }
  if (auto hope = load.isVolatile() ? std::nullopt : hopeOf(*this, pointer, count * bytes)) {
    Fork fork(*this, hope->holds);
    Values together = loadSideBySide(*this, access, hope->first, mask);
    fork.otherwise();
    Values apart = gather(*this, access, pointer, mask);
    fork.close(together, apart);
    finish(together);
    return {};
  }
  if (auto hope = mask || count > 1 || load.isVolatile() ? std::nullopt : groupHopeOf(*this, pointer, bytes)) {
    Fork fork(*this, hope->holds);
    Values together{loadGroups(*this, access, *hope)};
    fork.otherwise();
    Values apart = gather(*this, access, pointer, nullptr);
    fork.close(together, apart);
    finish(together);
    return {};
  }
  if (!mask && areRows(*this, address, count, bytes, load.isVolatile())) {
    finish(loadRows(*this, type, pointer, align));
    return {};
  }
  if (!mask && address.isPattern()) {
    Values values;
    for (unsigned part = 0; part < count; ++part) {
      llvm::SmallVector<int64_t, 32> offsets(address.offsets);
      for (int64_t &offset : offsets)
        offset += int64_t(part * bytes);
      Value *value = loadPattern(*this, type, scalar(pointer), offsets, align);
      values.push_back(value ? value : gatherPart(*this, access, pointer, nullptr, part));
    }
    finish(values);
    return {};
  }
  finish(gather(*this, access, pointer, mask));
  return {};
}

// All threads write to one place: the last one's value stays.
static void storeOne(Emitter &emitter, llvm::StoreInst &store, Value *value, Value *mask) {
  llvm::IRBuilder<> &b = emitter.b;
  Value *address = emitter.scalar(store.getPointerOperand());
  Value *last = b.getInt64(emitter.lanes - 1);
  if (mask) {
    Value *absent = b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, emitter.bits(mask), b.getInt1(false));
    last = b.CreateSub(last, b.CreateZExtOrTrunc(absent, b.getInt64Ty()));
  }
  b.CreateAlignedStore(b.CreateExtractElement(value, last), address, store.getAlign(), store.isVolatile());
}

// Down to single elements: a scatter instruction takes longer than a store a lane to addresses known but for one base.
static void storeRuns(Emitter &emitter, Value *value, Value *base, llvm::ArrayRef<int64_t> offsets, uint64_t bytes,
                      llvm::Align align) {
  for (const Run &run : runsOf(offsets, bytes)) {
    llvm::SmallVector<int> from;
    unsigned count = run.step ? run.count : 1;
    for (unsigned i = 0; i < count; ++i)
      from.push_back(int(run.step ? run.first + i : run.first + run.count - 1));
    emitter.b.CreateAlignedStore(emitter.b.CreateShuffleVector(value, from), at(emitter.b, base, run.offset), align);
  }
}

static void storeSideBySide(Emitter &emitter, const Access &access, llvm::ArrayRef<Value *> values, Value *place,
                            Value *mask) {
  llvm::IRBuilder<> &b = emitter.b;
  unsigned lanes = emitter.lanes, count = access.count;
  Value *all = values[0];
  if (count > 1) {
    Value *joined = llvm::concatenateVectors(b, values);
    llvm::SmallVector<int> from;
    for (unsigned i = 0; i < lanes * count; ++i)
      from.push_back(int((i % count) * lanes + i / count));
    all = b.CreateShuffleVector(joined, from);
  }
  if (mask)
    b.CreateMaskedStore(all, place, access.align, count > 1 ? repeated(b, mask, lanes, count) : mask);
  else
    b.CreateAlignedStore(all, place, access.align, access.isVolatile);
}

static void scatter(Emitter &emitter, const Access &access, llvm::ArrayRef<Value *> values, Value *pointer,
                    Value *mask) {
  for (unsigned part = 0; part < access.count; ++part)
    emitter.b.CreateMaskedScatter(values[part], addressesOf(emitter, access, pointer, part), access.align,
                                  mask ? mask : emitter.fullMask());
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
  Access access{type, count, align, store.isVolatile()};
  if (address.isConsecutive(count * bytes)) {
    storeSideBySide(*this, access, values, at(b, scalar(pointer), address.offsets[0]), mask);
    return {};
  }
  if (auto hope = store.isVolatile() ? std::nullopt : hopeOf(*this, pointer, count * bytes)) {
    Fork fork(*this, hope->holds);
    storeSideBySide(*this, access, values, hope->first, mask);
    fork.otherwise();
    scatter(*this, access, values, pointer, mask);
    fork.close();
    return {};
  }
  if (auto hope = mask || count > 1 || store.isVolatile() ? std::nullopt : groupHopeOf(*this, pointer, bytes)) {
    Fork fork(*this, hope->holds);
    storeGroups(*this, access, values[0], *hope);
    fork.otherwise();
    scatter(*this, access, values, pointer, nullptr);
    fork.close();
    return {};
  }
  if (!mask && areRows(*this, address, count, bytes, store.isVolatile())) {
    storeRows(*this, values, pointer, align);
    return {};
  }
  if (mask || !address.isPattern()) {
    scatter(*this, access, values, pointer, mask);
    return {};
  }
  for (unsigned part = 0; part < count; ++part) {
    llvm::SmallVector<int64_t, 32> offsets(address.offsets);
    for (int64_t &offset : offsets)
      offset += int64_t(part * bytes);
    storeRuns(*this, values[part], scalar(pointer), offsets, bytes, align);
  }
  return {};
}

} // namespace opsight::lower::warp
