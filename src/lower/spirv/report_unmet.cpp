// See report_unmet.h.
#include "lower/spirv/report_unmet.h"
#include "card/message.h"
#include "lower/kernel.h"
#include "lower/message_record.h"
#include "lower/spirv/builtins.h"
#include "lower/spirv/passes.h"
#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace opsight::lower::spirv {

using llvm::Value;

llvm::Argument *messageBuffer(Context &context) {
  auto &parameters = context.manifest.parameters;
  auto found = std::ranges::find(parameters, card::Parameter::Kind::Message, &card::Parameter::kind);
  if (found != parameters.end())
    return context.kernel->getArg(unsigned(found - parameters.begin()));
  return appendParameter(context, llvm::PointerType::get(context.module.getContext(), globalSpace),
                         {.name = "", .kind = card::Parameter::Kind::Message, .bytes = 8, .alignment = 8});
}

uint32_t placeId(card::Manifest &manifest, const SourcePlace &place) {
  return formatId(manifest, fmt::format("{}:{}", place.file, place.line));
}

void reportUnmet(card::Manifest &manifest, llvm::Instruction *at, Value *buffer, Value *waits, Value *where) {
  uint32_t id = formatId(manifest, "%s: block: [%u,%u,%u], thread: [%u,%u,%u] waits for lanes of its mask that never come\n");
  at = llvm::SplitBlockAndInsertIfThen(waits, at->getIterator(), /*Unreachable=*/false);
  llvm::IRBuilder<> b(at);
  Value *mark = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), buffer, offsetof(card::MessageHeader, unmet));
  Value *before = b.CreateAtomicRMW(llvm::AtomicRMWInst::Xchg, mark, b.getInt32(id + 1), llvm::Align(4),
                                    llvm::AtomicOrdering::Monotonic);
  at = llvm::SplitBlockAndInsertIfThen(b.CreateICmpEQ(before, b.getInt32(0)), at->getIterator(), /*Unreachable=*/false);
  b.SetInsertPoint(at);
  llvm::SmallVector<Value *> arguments = {where};
  for (const char *name : {"get_group_id", "get_local_id"})
    for (unsigned dimension : {0u, 1u, 2u})
      arguments.push_back(callIndex(b, name, dimension));
  recordMessage(at, buffer, id, arguments);
}

} // namespace opsight::lower::spirv
