// What threads do together: shuffles, votes, matches, reductions, barriers. Each becomes what the CUDA function of the
// same meaning becomes (module.h).
#include "cuda/ptx/site.h"
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace opsight::cuda::ptx {
namespace {
using llvm::IRBuilder, llvm::Value;
namespace I = llvm::Intrinsic;
enum class Shuffle { Up, Down, Butterfly, Index };

/// Whether the lane that a thread asks for is within its segment (PTX ISA, shfl.sync).
template <Shuffle kind> Value *isReachable(IRBuilder<> &b, Value *asked, Value *clamps) {
  Value *lane = b.CreateIntrinsic(I::nvvm_read_ptx_sreg_laneid, {});
  Value *by = b.CreateAnd(asked, 31), *segment = b.CreateAnd(b.CreateLShr(clamps, 8), 31),
        *within = b.CreateXor(segment, 31);
  Value *low = b.CreateAnd(lane, segment), *limit = b.CreateOr(low, b.CreateAnd(b.CreateAnd(clamps, 31), within));
  if constexpr (kind == Shuffle::Up)
    return b.CreateICmpSGE(b.CreateSub(lane, by), limit);
  Value *source = kind == Shuffle::Down        ? b.CreateAdd(lane, by)
                  : kind == Shuffle::Butterfly ? b.CreateXor(lane, by)
                                               : b.CreateOr(low, b.CreateAnd(by, within));
  return b.CreateICmpSLE(source, limit);
}

template <Shuffle kind, I::ID intrinsic> void shuffle(Site &site) {
  IRBuilder<> &b = site.b;
  Value *value = site.bits(1, 32), *by = site.bits(2, 32), *clamps = site.bits(3, 32), *mask = site.bits(4, 32);
  site.write({.name = site.operand(0).name}, b.CreateIntrinsic(intrinsic, {mask, value, by, clamps}));
  if (!site.operand(0).second.empty())
    site.write({.name = site.operand(0).second}, isReachable<kind>(b, by, clamps));
}

template <I::ID intrinsic> void vote(Site &site) {
  Value *holds = site.predicate(site.operand(1));
  site.write(site.operand(0), site.b.CreateIntrinsic(intrinsic, {site.bits(2, 32), holds}));
}

void voteUniform(Site &site) {
  IRBuilder<> &b = site.b;
  Value *holds = site.predicate(site.operand(1)), *mask = site.bits(2, 32);
  Value *all = b.CreateIntrinsic(I::nvvm_vote_all_sync, {mask, holds});
  Value *any = b.CreateIntrinsic(I::nvvm_vote_any_sync, {mask, holds});
  site.write(site.operand(0), b.CreateOr(all, b.CreateNot(any)));
}

void activeMask(Site &site) { site.write(site.operand(0), site.b.CreateIntrinsic(I::nvvm_activemask, {})); }

void matchAny(Site &site) {
  site.write(site.operand(0), site.b.CreateIntrinsic(I::nvvm_match_any_sync_i32, {site.bits(2, 32), site.bits(1, 32)}));
}
void matchAll(Site &site) {
  IRBuilder<> &b = site.b;
  Value *both = b.CreateIntrinsic(I::nvvm_match_all_sync_i32p, {site.bits(2, 32), site.bits(1, 32)});
  site.write({.name = site.operand(0).name}, b.CreateExtractValue(both, 0));
  if (!site.operand(0).second.empty())
    site.write({.name = site.operand(0).second}, b.CreateExtractValue(both, 1));
}

template <I::ID whenSigned, I::ID unless> void reduce(Site &site) {
  I::ID intrinsic = site.type().isSigned() ? whenSigned : unless;
  site.write(site.operand(0), site.b.CreateIntrinsic(intrinsic, {site.bits(1, 32), site.bits(2, 32)}));
}

/// Barrier 0 of the whole block. With a count of threads, the lowering has to see that these are all
/// (counted_barriers).
void barrier(Site &site) {
  IRBuilder<> &b = site.b;
  if (site.constant(site.operand(0)) != 0)
    return site.refuse("only barrier 0 is there");
  if (site.operandCount() == 1)
    b.CreateIntrinsic(I::nvvm_barrier_cta_sync_aligned_all, {b.getInt32(0)});
  else
    b.CreateIntrinsic(I::nvvm_barrier_cta_sync_aligned_count, {b.getInt32(0), site.bits(1, 32)});
}
void warpBarrier(Site &site) { site.b.CreateIntrinsic(I::nvvm_bar_warp_sync, {site.bits(0, 32)}); }

constexpr llvm::StringRef numbers = "u32 s32";
constexpr Row rows[] = {
    {"shfl.sync.up", "", "b32", 1, 5, 5, shuffle<Shuffle::Up, I::nvvm_shfl_sync_up_i32>},
    {"shfl.sync.down", "", "b32", 1, 5, 5, shuffle<Shuffle::Down, I::nvvm_shfl_sync_down_i32>},
    {"shfl.sync.bfly", "", "b32", 1, 5, 5, shuffle<Shuffle::Butterfly, I::nvvm_shfl_sync_bfly_i32>},
    {"shfl.sync.idx", "", "b32", 1, 5, 5, shuffle<Shuffle::Index, I::nvvm_shfl_sync_idx_i32>},
    {"vote.sync.all", "", "pred", 1, 3, 3, vote<I::nvvm_vote_all_sync>},
    {"vote.sync.any", "", "pred", 1, 3, 3, vote<I::nvvm_vote_any_sync>},
    {"vote.sync.uni", "", "pred", 1, 3, 3, voteUniform},
    {"vote.sync.ballot", "", "b32", 1, 3, 3, vote<I::nvvm_vote_ballot_sync>},
    {"activemask", "", "b32", 1, 1, 1, activeMask},
    {"match.any.sync", "", "b32", 1, 3, 3, matchAny},
    {"match.all.sync", "", "b32", 1, 3, 3, matchAll},
    {"redux.sync.add", "", numbers, 1, 3, 3, reduce<I::nvvm_redux_sync_add, I::nvvm_redux_sync_add>},
    {"redux.sync.min", "", numbers, 1, 3, 3, reduce<I::nvvm_redux_sync_min, I::nvvm_redux_sync_umin>},
    {"redux.sync.max", "", numbers, 1, 3, 3, reduce<I::nvvm_redux_sync_max, I::nvvm_redux_sync_umax>},
    {"redux.sync.and", "", "b32", 1, 3, 3, reduce<I::nvvm_redux_sync_and, I::nvvm_redux_sync_and>},
    {"redux.sync.or", "", "b32", 1, 3, 3, reduce<I::nvvm_redux_sync_or, I::nvvm_redux_sync_or>},
    {"redux.sync.xor", "", "b32", 1, 3, 3, reduce<I::nvvm_redux_sync_xor, I::nvvm_redux_sync_xor>},
    {"bar.sync", "", "", 0, 1, 2, barrier},
    {"bar.cta.sync", "", "", 0, 1, 2, barrier},
    {"barrier.sync", "aligned", "", 0, 1, 2, barrier},
    {"barrier.cta.sync", "aligned", "", 0, 1, 2, barrier},
    {"bar.warp.sync", "", "", 0, 1, 1, warpBarrier},
};
} // namespace

llvm::ArrayRef<Row> warpRows() { return rows; }

} // namespace opsight::cuda::ptx
