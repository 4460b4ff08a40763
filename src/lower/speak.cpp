// speak: printf and assert become records in a message buffer that is passed as one more parameter; their formats stay
// behind in the manifest, so no text is ever read on the card. A failed assert ends its thread.
//
// Runs on the kernel alone (inline_all before it) and before thread indices are translated: an assert tells whose it is.
#include "lower/speak.h"
#include "card/message.h"
#include "lower/kernel.h"
#include "lower/message_record.h"
#include <cstddef>
#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace opsight::lower {

using card::MessageHeader, llvm::IRBuilder, llvm::Value;

constexpr unsigned globalSpace = 1;

static std::optional<std::string> constantString(const Value *pointer) {
  auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(pointer->stripPointerCasts());
  if (!variable || !variable->hasInitializer())
    return std::nullopt;
  if (variable->getInitializer()->isNullValue())
    return "";
  auto *bytes = llvm::dyn_cast<llvm::ConstantDataArray>(variable->getInitializer());
  return bytes && bytes->isString() ? std::optional(bytes->getAsString().split('\0').first.str()) : std::nullopt;
}

static Status print(Context &context, llvm::CallInst *call, Value *buffer) {
  auto format = constantString(call->getArgOperand(0));
  if (!format)
    return unsupported("printf with a format that is not a string literal", {}, placeOf(*call));
  if (format->find("%s") != format->npos)
    return unsupported("printf of a string, %s", "print numbers, or write the text into the format", placeOf(*call));
  llvm::SmallVector<Value *> arguments(llvm::drop_begin(call->args()));
  recordMessage(call, buffer, formatId(context.manifest, *format), arguments);
  call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), arguments.size()));
  call->eraseFromParent();
  return {};
}

static Value *register32(IRBuilder<> &b, const char *name, char axis) {
  std::string intrinsic = fmt::format("llvm.nvvm.read.ptx.sreg.{}.{}", name, axis);
  return b.CreateCall(b.GetInsertBlock()->getModule()->getOrInsertFunction(
      intrinsic, llvm::FunctionType::get(b.getInt32Ty(), false)));
}

static void failAssert(Context &context, llvm::CallInst *call, Value *buffer) {
  auto text = [&](unsigned i) { return constantString(call->getArgOperand(i)).value_or("?"); };
  auto *line = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(2));
  std::string message = fmt::format("{}:{}: {}: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `{}` failed.\n", text(1),
                                    line ? line->getZExtValue() : 0, text(3), text(0));
  IRBuilder<> b(call);
  llvm::SmallVector<Value *> place;
  for (const char *name : {"ctaid", "tid"})
    for (char axis : {'x', 'y', 'z'})
      place.push_back(register32(b, name, axis));
  recordMessage(call, buffer, formatId(context.manifest, message), place);
  b.SetInsertPoint(call);
  markMessage(b, buffer, offsetof(MessageHeader, asserted), 1);
  // The thread ends here; what follows in its block is reached no more.
  llvm::SplitBlock(call->getParent(), call);
  llvm::Instruction *jump = call->getParent()->getSinglePredecessor()->getTerminator();
  call->getParent()->removePredecessor(jump->getParent());
  llvm::ReplaceInstWithInst(jump, llvm::ReturnInst::Create(call->getContext()));
  call->eraseFromParent();
}

static Status run(Context &context) {
  llvm::SmallVector<llvm::CallInst *> prints, asserts;
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->getCalledFunction()) {
      if (call->getCalledFunction()->getName() == "__opsight_printf")
        prints.push_back(call);
      else if (call->getCalledFunction()->getName() == "__opsight_assert")
        asserts.push_back(call);
    }
  if (prints.empty() && asserts.empty())
    return {};
  Value *buffer = appendParameter(context, llvm::PointerType::get(context.module.getContext(), globalSpace),
                                  {.name = "", .kind = card::Parameter::Kind::Message, .bytes = 8, .alignment = 8});
  for (llvm::CallInst *call : prints)
    if (Status done = print(context, call, buffer); !done)
      return done;
  for (llvm::CallInst *call : asserts)
    failAssert(context, call, buffer);
  llvm::EliminateUnreachableBlocks(*context.kernel);
  return {};
}

const Pass speak{"speak", "printf and assert write a message buffer", run};

} // namespace opsight::lower
