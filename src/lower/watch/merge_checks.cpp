// merge_checks: neighbouring accesses of a thread in a piece of straight code are checked as one, where the first of
// them is. Their alignment may be known to be no more than one element's, so that they stay accesses of their own
// (join_accesses); to the checks that is the same, as long as nothing between them changes what a check finds: another
// kind of access, or a place where threads wait.
#include "lower/analyses.h"
#include "lower/watch/calls.h"
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Operator.h>

namespace opsight::lower::watch {

using card::Site, llvm::CallInst, llvm::Value;

constexpr uint64_t mostBytes = 16; // as a vector access has

namespace {
struct Member {
  int64_t distance; // from the group's first in the code
  CallInst *call;
};
struct Group {
  uint32_t site;
  llvm::SmallVector<Member> members;
};

class Merger {
public:
  explicit Merger(Context &context)
      : watch_(std::make_shared<card::Watch>(*context.watch)),
        evolution_(analyses_.functions.getResult<llvm::ScalarEvolutionAnalysis>(*context.kernel)) {}

  void run(llvm::BasicBlock &block);
  std::shared_ptr<const card::Watch> watch() const { return watch_; }

private:
  void add(CallInst &call);
  bool join(Group &group, CallInst &call, const Site &site);
  void close();
  void merge(const Group &group, llvm::ArrayRef<Member> members);

  std::shared_ptr<card::Watch> watch_;
  Analyses analyses_;
  llvm::ScalarEvolution &evolution_;
  llvm::SmallVector<Group> open_;
  Site::Kind kind_ = Site::Kind::Load; // of all that are open
};
} // namespace

/// In the address space in which it is computed.
static Value *addressOf(const CallInst &call) {
  Value *address = call.getArgOperand(1);
  auto *cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(address);
  return cast ? cast->getPointerOperand() : address;
}

bool Merger::join(Group &group, CallInst &call, const Site &site) {
  const Site &other = watch_->sites[group.site];
  CallInst &first = *group.members.front().call;
  if (other.object != site.object || other.bytes != site.bytes || other.alignment != site.alignment ||
      first.getArgOperand(2) != call.getArgOperand(2))
    return false;
  const llvm::SCEV *apart =
      evolution_.getMinusSCEV(evolution_.getSCEV(addressOf(call)), evolution_.getSCEV(addressOf(first)));
  auto *known = llvm::dyn_cast<llvm::SCEVConstant>(apart);
  if (known)
    group.members.push_back({known->getAPInt().getSExtValue(), &call});
  return known;
}

void Merger::add(CallInst &call) {
  uint32_t number = numberOf(call);
  const Site site = watch_->sites[number];
  if (site.kind != kind_)
    close();
  kind_ = site.kind;
  if (site.object < 0 || site.kind == Site::Kind::Atomic)
    return;
  constexpr size_t lookBack = 16; // groups: pieces of straight code may be long
  for (Group &group : llvm::reverse(llvm::MutableArrayRef(open_).take_back(lookBack)))
    if (join(group, call, site))
      return;
  open_.push_back({number, {{0, &call}}});
}

/// `members` lie side by side.
void Merger::merge(const Group &group, llvm::ArrayRef<Member> members) {
  auto comesFirst = [](const Member &a, const Member &b) { return a.call->comesBefore(b.call); };
  const Member &first = *llvm::min_element(members, comesFirst);
  Site whole = watch_->sites[numberOf(*first.call)];
  whole.bytes = uint32_t(members.size()) * watch_->sites[group.site].bytes;
  watch_->sites.push_back(whole);
  llvm::IRBuilder<> b(first.call);
  Value *start = first.call->getArgOperand(1);
  if (int64_t before = members.front().distance - first.distance)
    start = b.CreateGEP(b.getInt8Ty(), start, b.getInt64(uint64_t(before)));
  say(b, Say::Check, uint32_t(watch_->sites.size() - 1), {start, first.call->getArgOperand(2)});
  for (const Member &member : members)
    member.call->eraseFromParent();
}

void Merger::close() {
  for (Group &group : open_) {
    llvm::sort(group.members, [](const Member &a, const Member &b) {
      return a.distance == b.distance ? a.call != b.call && a.call->comesBefore(b.call) : a.distance < b.distance;
    });
    int64_t bytes = watch_->sites[group.site].bytes;
    llvm::ArrayRef<Member> rest = group.members;
    while (!rest.empty()) {
      size_t count = 1;
      while (count < rest.size() && rest[count].distance == rest[count - 1].distance + bytes)
        ++count;
      count = std::min(llvm::bit_floor(count), size_t(std::max<int64_t>(1, int64_t(mostBytes) / bytes)));
      if (count > 1)
        merge(group, rest.take_front(count));
      rest = rest.drop_front(count);
    }
  }
  open_.clear();
}

void Merger::run(llvm::BasicBlock &block) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(block)) {
    auto *call = llvm::dyn_cast<CallInst>(&instruction);
    auto what = call ? saidBy(*call) : std::nullopt;
    if (what == Say::Check)
      add(*call);
    else if (what && what != Say::CheckLocal)
      close();
  }
  close();
}

static Status run(Context &context) {
  if (context.target.watched != Watched::Checked)
    return {};
  Merger merger(context);
  for (llvm::BasicBlock &block : *context.kernel)
    merger.run(block);
  context.watch = merger.watch();
  return {};
}

const Pass merge_checks{"merge_checks", "neighbouring accesses of a thread are checked as one", run};

} // namespace opsight::lower::watch
