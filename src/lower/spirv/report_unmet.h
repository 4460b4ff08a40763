// Says on the card that threads wait for others that never come, through the message buffer of card/message.h.
#pragma once
#include "lower/pass.h"
#include <llvm/IR/IRBuilder.h>

namespace opsight::lower::spirv {

/// The kernel's message buffer: the parameter that printf and asserts have, else a new one, which makes
/// `context.kernel` another function.
llvm::Argument *messageBuffer(Context &context);

/// The format that is `place` itself, "file:line".
uint32_t placeId(card::Manifest &manifest, const SourcePlace &place);

/// Before `at`, where `waits` (i1): the first thread of the launch to come here says that the warp operation at `where`
/// (i32, a placeId()) waits in vain, and the launch counts as one whose threads did not meet.
void reportUnmet(card::Manifest &manifest, llvm::Instruction *at, llvm::Value *buffer, llvm::Value *waits,
                 llvm::Value *where);

} // namespace opsight::lower::spirv
