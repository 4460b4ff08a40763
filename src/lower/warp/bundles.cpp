// See bundles.h. From the loads forward: for each user of a bundle's first member, a like one of each other member.
// What that one's other operands are is found out behind it, so that the sums of a loop, which wait for themselves, are
// taken for a bundle until something speaks against it.
#include "lower/warp/bundles.h"
#include <cmath>
#include <functional>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace opsight::lower::warp {

using llvm::Instruction, llvm::PHINode, llvm::ShuffleVectorInst, llvm::Use, llvm::Value;

constexpr size_t mostBundles = 4096;
constexpr unsigned roundsOfALoop = 16; // guessed

Instruction *Bundle::last() const {
  if (isLoaded()) { // the parts may be made later than the last load, but not before it
    Instruction *last = llvm::cast<Instruction>(raw[0]);
    for (Value *load : raw)
      if (last->comesBefore(llvm::cast<Instruction>(load)))
        last = llvm::cast<Instruction>(load);
    return last;
  }
  Instruction *last = member(0);
  for (size_t part = 1; part < members.size(); ++part)
    if (last->comesBefore(member(part)))
      last = member(part);
  return last;
}

/// Lane by lane the same, wherever the lane.
static bool isElementwise(const Instruction &instruction) {
  if (!instruction.getType()->isVectorTy() || instruction.mayReadOrWriteMemory())
    return false;
  if (auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return llvm::isTriviallyVectorizable(intrinsic->getIntrinsicID());
  return llvm::isa<llvm::BinaryOperator>(instruction) || llvm::isa<llvm::UnaryOperator>(instruction) ||
         llvm::isa<llvm::CastInst>(instruction) || llvm::isa<llvm::CmpInst>(instruction) ||
         llvm::isa<llvm::SelectInst>(instruction) || llvm::isa<llvm::FreezeInst>(instruction) ||
         llvm::isa<PHINode>(instruction);
}

static unsigned operandCount(const Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call ? call->arg_size() : instruction.getNumOperands();
}

/// The one number that all lanes hold, or, of what is no vector, the value itself; null: neither.
static Value *oneForAll(Value *operand) {
  return operand->getType()->isVectorTy() ? llvm::getSplatValue(operand) : operand;
}

static bool isSameOperation(const Instruction &a, const Instruction &b) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(&a), *other = llvm::dyn_cast<llvm::CallInst>(&b);
  if (call && other && call->getCalledOperand() != other->getCalledOperand())
    return false;
  return a.getParent() == b.getParent() && a.isSameOperationAs(&b) && a.hasSameSubclassOptionalData(&b);
}

Bundles::Bundles(llvm::Function &kernel, unsigned lanes, const llvm::LoopInfo &loops)
    : kernel_(kernel), lanes_(lanes), loops_(loops) {
  findLoaded();
  if (all.empty())
    return;
  grow();
  invalidate();
  keepWhatPays();
}

void Bundles::findLoaded() {
  struct Found {
    Vectors raw, members;
  };
  llvm::SmallVector<Found> found;
  for (Instruction &instruction : llvm::instructions(kernel_)) {
    auto *shuffle = llvm::dyn_cast<ShuffleVectorInst>(&instruction);
    if (!shuffle || llvm::cast<llvm::FixedVectorType>(shuffle->getType())->getNumElements() != lanes_)
      continue;
    auto part = asPartOfLoads(*shuffle);
    auto *load = part ? llvm::cast<Instruction>(part->raw[0]) : nullptr;
    if (!part || llvm::any_of(part->raw, [&](Value *raw) {
          return llvm::cast<Instruction>(raw)->getParent() != load->getParent();
        }))
      continue;
    auto known = llvm::find_if(found, [&](const Found &other) { return other.raw == part->raw; });
    if (known == found.end()) {
      found.push_back({part->raw, Vectors(part->raw.size(), nullptr)});
      known = found.end() - 1;
    }
    if (!known->members[part->number])
      known->members[part->number] = shuffle;
  }
  for (Found &one : found)
    if (llvm::all_of(one.members, [](Value *member) { return member; })) {
      int number = add(one.members);
      if (number >= 0)
        all[size_t(number)].raw = one.raw;
    }
}

/// The number of a new bundle; -1 where a member is in one already.
int Bundles::add(Vectors members) {
  if (all.size() == mostBundles || llvm::any_of(members, [&](Value *member) { return numbers_.contains(member); }))
    return -1;
  for (size_t part = 0; part < members.size(); ++part)
    if (llvm::is_contained(llvm::ArrayRef(members).take_front(part), members[part]))
      return -1;
  int number = int(all.size());
  for (Value *member : members)
    numbers_[member] = number;
  all.push_back({std::move(members), {}, {}, true});
  return number;
}

int Bundles::bundleOf(const Vectors &members) const {
  auto known = numbers_.find(members[0]);
  return known != numbers_.end() && all[size_t(known->second)].members == members ? known->second : -1;
}

/// The user of `member` that does with it what `first`, at operand `slot`, does with its own.
Instruction *Bundles::partner(Instruction &first, unsigned slot, Value *member) const {
  for (Use &use : member->uses()) {
    auto *other = llvm::cast<Instruction>(use.getUser());
    if (use.getOperandNo() != slot || numbers_.contains(other) || !isSameOperation(first, *other))
      continue;
    bool fits = true;
    for (unsigned i = 0; i < operandCount(first); ++i)
      fits &= i == slot || oneForAll(first.getOperand(i)) == oneForAll(other->getOperand(i));
    if (fits)
      return other;
  }
  return nullptr;
}

void Bundles::visitUsers(int number) {
  Vectors members = all[size_t(number)].members;
  for (Use &use : members[0]->uses()) {
    auto *first = llvm::cast<Instruction>(use.getUser());
    if (!isElementwise(*first) || numbers_.contains(first) || use.getOperandNo() >= operandCount(*first))
      continue;
    Vectors users{first};
    for (size_t part = 1; part < members.size(); ++part)
      if (Instruction *other = partner(*first, use.getOperandNo(), members[part]);
          other && !llvm::is_contained(users, other))
        users.push_back(other);
    if (users.size() == members.size())
      add(users);
  }
}

/// Numbers of the bundles that `bundle` works on; false where an operand is neither one nor one number for all.
bool Bundles::linkOperands(Bundle &bundle) {
  Instruction *first = bundle.member(0);
  llvm::SmallVector<int> operands;
  for (unsigned i = 0; i < operandCount(*first); ++i) {
    Vectors given;
    for (size_t part = 0; part < bundle.members.size(); ++part) {
      auto *member = bundle.member(part);
      bool isPhi = llvm::isa<PHINode>(member);
      given.push_back(
          isPhi ? llvm::cast<PHINode>(member)->getIncomingValueForBlock(llvm::cast<PHINode>(first)->getIncomingBlock(i))
                : member->getOperand(i));
    }
    Value *one = oneForAll(given[0]);
    if (one && llvm::all_of(given, [&](Value *other) { return oneForAll(other) == one; })) {
      operands.push_back(-1);
      continue;
    }
    int known = bundleOf(given);
    auto canBe = [&](Value *value) {
      auto *instruction = llvm::dyn_cast<Instruction>(value);
      return instruction && isElementwise(*instruction) &&
             isSameOperation(*llvm::cast<Instruction>(given[0]), *instruction);
    };
    if (known < 0 && llvm::isa<Instruction>(given[0]) && llvm::all_of(given, canBe))
      known = add(given);
    if (known < 0)
      return false;
    operands.push_back(known);
  }
  all[size_t(numbers_[first])].operands = std::move(operands); // `bundle` may have moved
  return true;
}

void Bundles::grow() {
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].isLoaded()) {
      Bundle bundle = all[i];
      all[i].isValid = linkOperands(bundle);
    }
    if (all[i].isValid)
      visitUsers(int(i));
  }
}

llvm::SmallVector<Use *> Bundles::escapes(const Bundle &bundle) const {
  llvm::SmallVector<Use *> found;
  int number = numbers_.lookup(bundle.members[0]);
  for (Value *member : bundle.members)
    for (Use &use : member->uses()) {
      auto user = numbers_.find(use.getUser());
      bool isInside = user != numbers_.end() && all[size_t(user->second)].isValid;
      if (!isInside && !isRejoining(use.getUser(), number))
        found.push_back(&use);
    }
  return found;
}

/// Through the shuffles that put vectors one behind the other.
bool Bundles::isRejoining(llvm::User *user, int bundle) const {
  if (!llvm::isa<ShuffleVectorInst>(user))
    return false;
  auto rejoins = [&](const Rejoined &one) { return one.bundle == bundle && one.shuffle == user; };
  if (llvm::any_of(rejoined, rejoins))
    return true;
  return !user->use_empty() && llvm::all_of(user->users(), [&](llvm::User *next) { return isRejoining(next, bundle); });
}

/// What works on an invalid bundle is none; nor is what somebody needs before its raw vectors are there.
void Bundles::invalidate() {
  for (bool changed = true; changed;) {
    changed = false;
    findRejoined();
    for (Bundle &bundle : all) {
      if (!bundle.isValid)
        continue;
      bool works =
          llvm::all_of(bundle.operands, [&](int operand) { return operand < 0 || all[size_t(operand)].isValid; });
      bool inTime =
          bundle.isLoaded() || llvm::isa<PHINode>(bundle.members[0]) || llvm::all_of(escapes(bundle), [&](Use *use) {
            auto *user = llvm::cast<Instruction>(use->getUser());
            return llvm::isa<PHINode>(user) || user->getParent() != bundle.last()->getParent() ||
                   bundle.last()->comesBefore(user);
          });
      if (!works || !inTime)
        bundle.isValid = false, changed = true;
    }
  }
}

void Bundles::findRejoined() {
  rejoined.clear();
  for (Instruction &instruction : llvm::instructions(kernel_)) {
    auto *shuffle = llvm::dyn_cast<ShuffleVectorInst>(&instruction);
    if (!shuffle)
      continue;
    auto parts = interleavedBy(*shuffle, lanes_);
    int bundle = parts ? bundleOf(*parts) : -1;
    if (bundle >= 0 && all[size_t(bundle)].isValid)
      rejoined.push_back({shuffle, bundle});
  }
}

/// Bundles that work on each other stay together, if they save more permutations than their escapes cost.
void Bundles::keepWhatPays() {
  llvm::SmallVector<int> group;
  for (size_t i = 0; i < all.size(); ++i)
    group.push_back(int(i));
  std::function<int(int)> find = [&](int i) {
    return group[size_t(i)] == i ? i : group[size_t(i)] = find(group[size_t(i)]);
  };
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].isValid)
      for (int operand : all[i].operands)
        if (operand >= 0)
          group[size_t(find(int(i)))] = find(operand);
  llvm::SmallVector<double> saved(all.size(), 0);
  auto cost = [&](const llvm::BasicBlock *block, const Bundle &bundle) {
    return permutationsOf(bundle.members.size()) * std::pow(double(roundsOfALoop), loops_.getLoopDepth(block));
  };
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].isValid)
      continue;
    double &sum = saved[size_t(find(int(i)))];
    if (all[i].isLoaded())
      sum += cost(all[i].member(0)->getParent(), all[i]);
    llvm::SmallPtrSet<const llvm::BasicBlock *, 4> blocks;
    for (Use *use : escapes(all[i])) {
      auto *phi = llvm::dyn_cast<PHINode>(use->getUser());
      auto *block = phi ? phi->getIncomingBlock(*use) : llvm::cast<Instruction>(use->getUser())->getParent();
      if (blocks.insert(block).second)
        sum -= cost(block, all[i]);
    }
  }
  for (const Rejoined &one : rejoined)
    saved[size_t(find(one.bundle))] += cost(one.shuffle->getParent(), all[size_t(one.bundle)]);
  for (size_t i = 0; i < all.size(); ++i)
    all[i].isValid &= saved[size_t(find(int(i)))] > 0;
  findRejoined();
}

} // namespace opsight::lower::warp
