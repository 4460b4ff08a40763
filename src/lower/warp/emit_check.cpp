// What a kernel under checks (lower/watch/checker.h) looks at before an access of its warp. What the lanes' constants
// say of the addresses decides the form, as for the access itself (emit_memory.cpp): one place for all, a few rows of
// neighbours, or an address a lane.
#include "lower/kernel.h"
#include "lower/warp/emitter.h"
#include "lower/warp/hope.h"
#include "lower/warp/passes.h"

namespace opsight::lower::warp {

using llvm::Value, watch::Checked;

constexpr size_t mostCheckedRuns = 8; // beyond, code of a run each is longer than a loop over the lanes

namespace {
/// One access of the kernel's, and who takes part.
struct Access {
  Emitter &emitter;
  watch::Checker &checker;
  Checked common;
  uint64_t bytes;
  Value *start; // of the object; null: addresses are offsets
  bool isWhole; // every lane takes part, for sure

  /// From the object's start; of threads that are not there it may be anything.
  Value *offset(Value *address) const {
    llvm::IRBuilder<> &b = emitter.b;
    if (address->getType()->isPtrOrPtrVectorTy())
      address = b.CreatePtrToInt(address, address->getType()->isVectorTy() ? emitter.widened(b.getInt64Ty())
                                                                           : static_cast<llvm::Type *>(b.getInt64Ty()));
    if (start) {
      Value *from = b.CreatePtrToInt(start, b.getInt64Ty());
      address =
          b.CreateSub(address, address->getType()->isVectorTy() ? b.CreateVectorSplat(emitter.lanes, from) : from);
    }
    return b.CreateFreeze(address);
  }

  /// The bits of `count` lanes from `first` on.
  Checked of(unsigned first, unsigned count) const {
    llvm::IRBuilder<> &b = emitter.b;
    Checked some = common;
    some.mask = b.CreateLShr(some.mask, uint64_t(first));
    if (count < 32)
      some.mask = b.CreateAnd(some.mask, (uint64_t(1) << count) - 1);
    return some;
  }

  void side(unsigned first, unsigned count, Value *offset, bool isShared = false) const {
    checker.row(of(first, count), {first, count, isWhole, isShared}, offset);
  }
};
} // namespace

/// One look for several runs over the same places, which reads allow: who it is does not matter then.
static void checkRuns(const Access &access, llvm::ArrayRef<Run> runs, Value *base) {
  llvm::IRBuilder<> &b = access.emitter.b;
  bool mayJoin = access.isWhole && access.checker.site(access.common.site).kind == card::Site::Kind::Load;
  auto isSame = [](const Run &a, const Run &b) {
    return a.offset == b.offset && a.count == b.count && (a.step == b.step || a.count == 1);
  };
  for (size_t i = 0; i < runs.size(); ++i) {
    const Run &run = runs[i];
    auto others = [&](llvm::ArrayRef<Run> some) {
      return mayJoin ? llvm::count_if(some, [&](const Run &r) { return isSame(r, run); }) : 0;
    };
    if (others(runs.take_front(i)))
      continue;
    bool isShared = others(runs.drop_front(i + 1)) > 0;
    Value *offset = b.CreateAdd(base, b.getInt64(uint64_t(run.offset)));
    if (run.step && run.count > 1) {
      access.side(run.first, run.count, offset, isShared);
      continue;
    }
    Checked some = access.common; // the lanes keep their numbers
    uint64_t lanes = run.count == 32 ? ~0u : ((uint64_t(1) << run.count) - 1) << run.first;
    some.mask = isShared ? some.mask : b.CreateAnd(some.mask, lanes);
    access.checker.place(some, offset);
  }
}

/// Where only the lowest and the highest address matter. False where that is not so.
static bool checkSpan(const Access &access, llvm::ArrayRef<int64_t> offsets, Value *base) {
  const card::Site &site = access.checker.site(access.common.site);
  bool isAligned = llvm::all_of(offsets, [&](int64_t offset) { return offset % int64_t(site.alignment) == 0; });
  if (!access.isWhole || !isAligned || access.checker.isRemembered(access.common.site))
    return false;
  auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
  llvm::IRBuilder<> &b = access.emitter.b;
  access.checker.span(access.common, b.CreateAdd(base, b.getInt64(uint64_t(*least))),
                      uint64_t(*most - *least) + access.bytes);
  return true;
}

static void checkLanes(const Access &access, Value *addresses) {
  Emitter &emitter = access.emitter;
  Value *words = emitter.inMemory(emitter.publishedAddresses, access.offset(emitter.vector(addresses)));
  access.start || access.checker.site(access.common.site).space == card::Space::Local
      ? access.checker.lanes(access.common, words)
      : access.checker.anywhere(access.common, words);
}

static void checkAccess(const Access &access, Value *address) {
  Emitter &emitter = access.emitter;
  Shape shape = emitter.shape(address);
  if (!access.checker.isRegular(access.common.site)) {
    checkLanes(access, address);
  } else if (shape.isUniform()) {
    access.checker.place(access.common, access.offset(emitter.scalar(address)));
  } else if (shape.isPattern()) {
    auto runs = runsOf(shape.offsets, access.bytes);
    Value *base = access.offset(emitter.scalar(address));
    if (checkSpan(access, shape.offsets, base))
      return;
    if (runs.size() <= mostCheckedRuns)
      checkRuns(access, runs, base);
    else
      checkLanes(access, address);
  } else if (auto hope = access.start ? hopeOf(emitter, address, access.bytes) : std::nullopt) {
    Fork fork(emitter, emitter.b.CreateFreeze(hope->holds));
    access.side(0, emitter.lanes, access.offset(hope->first));
    fork.otherwise();
    checkLanes(access, address);
    fork.close();
  } else {
    checkLanes(access, address);
  }
}

/// All threads of the warp that the block has.
static Value *existingThreads(Emitter &emitter, Value *number) {
  llvm::IRBuilder<> &b = emitter.b;
  uint32_t threads = uint32_t(emitter.context.target.block.count()), rest = threads % emitter.lanes;
  uint32_t all = emitter.lanes == 32 ? ~0u : (1u << emitter.lanes) - 1;
  if (rest == 0)
    return b.getInt32(all);
  return b.CreateSelect(b.CreateICmpEQ(number, b.getInt32(threads / emitter.lanes)), b.getInt32((1u << rest) - 1),
                        b.getInt32(all));
}

void Emitter::check(llvm::CallInst &call, watch::Say what, Value *mask) {
  if (!checker)
    checker.emplace(b, context, warp);
  Value *here = b.CreateZExtOrTrunc(bits(mask), b.getInt32Ty()), *number = findArgument(warp, warpName);
  auto one = [&](Value *value) { return shape(value).isUniform() ? scalar(value) : someThreads(value, mask); };
  uint32_t index = watch::numberOf(call);
  switch (what) {
  case watch::Say::Check:
  case watch::Say::CheckLocal: {
    bool isLocal = what == watch::Say::CheckLocal;
    Value *address = call.getArgOperand(1), *start = isLocal ? nullptr : call.getArgOperand(2);
    if (auto *cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(address))
      address = cast->getPointerOperand(); // which the access itself takes, so that what is known of it is shared
    bool isKnown = start && !llvm::isa<llvm::ConstantPointerNull>(start);
    checkAccess(
        {*this, *checker, {index, number, here}, checker->site(index).bytes, isKnown ? one(start) : nullptr, !mask},
        address);
    return;
  }
  case watch::Say::Point:
    if (checker->site(index).kind == card::Site::Kind::Barrier)
      checker->barrier(number, here);
    else
      checker->sync(number, here, one(call.getArgOperand(2)), existingThreads(*this, number));
    return;
  case watch::Say::Array:
    checker->array(index, one(call.getArgOperand(1)));
    return;
  default: // Enter; no other is said under checks
    checker->enter(number);
  }
}

} // namespace opsight::lower::warp
