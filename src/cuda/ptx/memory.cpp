// Loads, stores, atomic operations and fences. What caches are told (.ca, .nc, .L2::128B …) changes no value.
#include "cuda/ptx/shared_numbers.h"
#include "cuda/ptx/site.h"

namespace opsight::cuda::ptx {
namespace {
using llvm::AtomicOrdering, llvm::AtomicRMWInst, llvm::IRBuilder, llvm::Value;
using Kind = Type::Kind;

unsigned spaceOf(const Site &site) {
  return site.has("shared") || site.has("shared::cta") ? sharedSpace : site.has("global") ? globalSpace : 0;
}

AtomicOrdering orderingOf(const Site &site, AtomicOrdering unless) {
  return site.has("relaxed")   ? AtomicOrdering::Monotonic
         : site.has("acquire") ? AtomicOrdering::Acquire
         : site.has("release") ? AtomicOrdering::Release
         : site.has("acq_rel") ? AtomicOrdering::AcquireRelease
                               : unless;
}

/// A load's or store's elements in memory: one, or those of .v2, .v4 and .v8.
struct Access {
  llvm::Type *element;
  unsigned count;
  llvm::Align align;
  llvm::Type *whole() const { return count == 1 ? element : llvm::FixedVectorType::get(element, count); }
};
Access accessOf(Site &site) {
  unsigned count = site.has("v8") ? 8 : site.has("v4") ? 4 : site.has("v2") ? 2 : 1, bytes = site.type().bits / 8;
  return {site.b.getIntNTy(site.type().bits), count, llvm::Align(count * bytes)};
}

/// The registers of a vector operand, or the one.
llvm::ArrayRef<Operand> registersOf(Site &site, size_t i, unsigned count) {
  const Operand &operand = site.operand(i);
  llvm::ArrayRef<Operand> all =
      operand.kind == Operand::Kind::Vector ? llvm::ArrayRef(operand.parts) : llvm::ArrayRef(operand);
  if (all.size() != count)
    site.refuse("it needs " + std::to_string(count) + " registers");
  return all.take_front(count);
}

void load(Site &site) {
  IRBuilder<> &b = site.b;
  Access access = accessOf(site);
  llvm::ArrayRef<Operand> targets = registersOf(site, 0, access.count);
  auto *loaded =
      b.CreateAlignedLoad(access.whole(), site.address(1, spaceOf(site)), access.align, site.has("volatile"));
  if (AtomicOrdering order = orderingOf(site, AtomicOrdering::NotAtomic); order != AtomicOrdering::NotAtomic) {
    if (access.count > 1)
      return site.refuse("several registers at once have no memory order");
    loaded->setOrdering(order);
  }
  for (size_t i = 0; i < targets.size(); ++i)
    site.write(targets[i], access.count == 1 ? loaded : b.CreateExtractElement(loaded, i), site.type().isSigned());
}

void store(Site &site) {
  IRBuilder<> &b = site.b;
  Access access = accessOf(site);
  Value *stored = llvm::PoisonValue::get(access.whole());
  llvm::ArrayRef<Operand> sources = registersOf(site, 1, access.count);
  for (size_t i = 0; i < sources.size(); ++i) {
    Value *part = site.bits(sources[i], site.type().bits);
    stored = access.count == 1 ? part : b.CreateInsertElement(stored, part, i);
  }
  auto *made = b.CreateAlignedStore(stored, site.address(0, spaceOf(site)), access.align, site.has("volatile"));
  if (AtomicOrdering order = orderingOf(site, AtomicOrdering::NotAtomic); order != AtomicOrdering::NotAtomic) {
    if (access.count > 1)
      return site.refuse("several registers at once have no memory order");
    made->setOrdering(order);
  }
}

struct Operation {
  const char *word;
  AtomicRMWInst::BinOp plain, ofSigned, ofFloat;
  llvm::StringRef types;
};
constexpr AtomicRMWInst::BinOp none = AtomicRMWInst::BAD_BINOP;
constexpr Operation operations[] = {
    {"add", AtomicRMWInst::Add, AtomicRMWInst::Add, AtomicRMWInst::FAdd, "u32 s32 u64 s64 f32 f64"},
    {"min", AtomicRMWInst::UMin, AtomicRMWInst::Min, none, "u32 s32 u64 s64"},
    {"max", AtomicRMWInst::UMax, AtomicRMWInst::Max, none, "u32 s32 u64 s64"},
    {"and", AtomicRMWInst::And, none, none, "b32 b64"},
    {"or", AtomicRMWInst::Or, none, none, "b32 b64"},
    {"xor", AtomicRMWInst::Xor, none, none, "b32 b64"},
    {"exch", AtomicRMWInst::Xchg, none, none, "b32 b64"},
    {"inc", AtomicRMWInst::UIncWrap, none, none, "u32"},
    {"dec", AtomicRMWInst::UDecWrap, none, none, "u32"},
};

Value *exchangeIfSame(Site &site, size_t first) {
  IRBuilder<> &b = site.b;
  unsigned width = site.type().bits;
  AtomicOrdering order = orderingOf(site, AtomicOrdering::Monotonic);
  AtomicOrdering failing = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order);
  Value *pair = b.CreateAtomicCmpXchg(site.address(first, spaceOf(site)), site.bits(first + 1, width),
                                      site.bits(first + 2, width), llvm::Align(width / 8), order, failing);
  return b.CreateExtractValue(pair, 0);
}

/// atom, and red, which has no result.
template <bool hasResult> void atomic(Site &site) {
  const Type &type = site.type();
  size_t first = hasResult ? 1 : 0;
  Value *old = nullptr;
  if (site.has("cas")) {
    if (site.operandCount() != first + 3 || type.kind != Kind::Bits)
      return site.refuse("cas takes bits to compare with and to store");
    old = exchangeIfSame(site, first);
  } else {
    auto asked = llvm::find_if(operations, [&](const Operation &one) { return site.has(one.word); });
    llvm::SmallVector<llvm::StringRef> allowed;
    if (asked != std::end(operations))
      asked->types.split(allowed, ' ');
    if (!llvm::any_of(allowed, [&](llvm::StringRef word) { return *typeNamed(word) == type; }) ||
        site.operandCount() != first + 2)
      return site.refuse("no such operation on this type");
    auto operation = type.isFloat() ? asked->ofFloat : type.isSigned() ? asked->ofSigned : asked->plain;
    old = site.b.CreateAtomicRMW(operation, site.address(first, spaceOf(site)), site.value(first + 1, type),
                                 llvm::Align(type.bits / 8), orderingOf(site, AtomicOrdering::Monotonic));
  }
  if (hasResult)
    site.writeValue(0, old, type);
}

void fence(Site &site) { site.b.CreateFence(AtomicOrdering::SequentiallyConsistent); }
void nothing(Site &) {}

constexpr llvm::StringRef types = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64";
constexpr llvm::StringRef forms = "global shared shared::cta volatile relaxed acquire release cta gpu sys v2 v4 v8 ca "
                                  "cg cs lu cv wb wt nc L1::no_allocate "
                                  "L1::evict_first L1::evict_last L1::evict_normal L1::evict_unchanged L2::evict_first "
                                  "L2::evict_last L2::evict_normal "
                                  "L2::64B L2::128B L2::256B";
constexpr llvm::StringRef atomicForms =
    "global shared shared::cta relaxed acquire release acq_rel cta gpu sys add min max and or xor exch inc dec cas";
constexpr llvm::StringRef atomicTypes = "b32 b64 u32 u64 s32 s64 f32 f64";
constexpr Row rows[] = {
    {"ld", forms, types, 1, 2, 2, load},
    {"ldu", forms, types, 1, 2, 2, load},
    {"st", forms, types, 1, 2, 2, store},
    {"atom", atomicForms, atomicTypes, 1, 3, 4, atomic<true>},
    {"red", atomicForms, atomicTypes, 1, 2, 2, atomic<false>},
    {"membar", "cta gl sys", "", 0, 0, 0, fence},
    {"fence", "sc acq_rel cta gpu sys", "", 0, 0, 0, fence},
    {"prefetch", "global L1 L2", "", 0, 1, 1, nothing},
    {"prefetchu.L1", "", "", 0, 1, 1, nothing},
    {"nanosleep.u32", "", "", 0, 1, 1, nothing},
};
} // namespace

llvm::ArrayRef<Row> memoryRows() { return rows; }

} // namespace opsight::cuda::ptx
