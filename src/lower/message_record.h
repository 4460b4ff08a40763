// Code that writes the message buffer of card/message.h, for whoever has something to say from a card.
#pragma once
#include "card/artifact.h"
#include <llvm/IR/IRBuilder.h>

namespace opsight::lower {

/// The id of `format` in the manifest, which gets it if it has it not.
uint32_t formatId(card::Manifest &manifest, const std::string &format);

/// Writes one record before `at` where the buffer has room; what does not fit is counted and lost. Integers are
/// sign-extended to 64 bits, floats become doubles.
void recordMessage(llvm::Instruction *at, llvm::Value *buffer, uint32_t id, llvm::ArrayRef<llvm::Value *> arguments);

/// Stores `mark` in the buffer's header, `offset` bytes behind its start.
void markMessage(llvm::IRBuilder<> &b, llvm::Value *buffer, uint64_t offset, uint32_t mark);

} // namespace opsight::lower
