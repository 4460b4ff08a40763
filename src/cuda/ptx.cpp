#include "cuda/ptx.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace opsight::cuda {
namespace {
using llvm::IRBuilder;
using llvm::Intrinsic::ID;
using llvm::Value;

struct Instruction {
  llvm::StringRef text; // without spaces and ".ftz": approximations are answered by exact functions
  Value *(*make)(IRBuilder<> &, llvm::CallInst &);
};

template <ID intrinsic> Value *unary(IRBuilder<> &builder, llvm::CallInst &call) {
  return builder.CreateUnaryIntrinsic(intrinsic, call.getArgOperand(0));
}
template <ID intrinsic> Value *special(IRBuilder<> &builder, llvm::CallInst &) {
  return builder.CreateIntrinsic(intrinsic, {});
}
Value *reciprocal(IRBuilder<> &builder, llvm::CallInst &call) {
  return builder.CreateFDiv(llvm::ConstantFP::get(call.getType(), 1.0), call.getArgOperand(0));
}
Value *reciprocalRoot(IRBuilder<> &builder, llvm::CallInst &call) {
  return builder.CreateFDiv(llvm::ConstantFP::get(call.getType(), 1.0), unary<llvm::Intrinsic::sqrt>(builder, call));
}
Value *fusedMultiplyAdd(IRBuilder<> &builder, llvm::CallInst &call) {
  return builder.CreateIntrinsic(llvm::Intrinsic::fma, {call.getType()},
                                 {call.getArgOperand(0), call.getArgOperand(1), call.getArgOperand(2)});
}
Value *barrier(IRBuilder<> &builder, llvm::CallInst &) {
  return builder.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {}, {builder.getInt32(0)});
}
Value *fence(IRBuilder<> &builder, llvm::CallInst &) {
  return builder.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
}
Value *load(IRBuilder<> &builder, llvm::CallInst &call) {
  return builder.CreateLoad(call.getType(), builder.CreateIntToPtr(call.getArgOperand(0), builder.getPtrTy()));
}

constexpr Instruction instructions[] = {
    {"ex2.approx.f32$0,$1;", unary<llvm::Intrinsic::exp2>},
    {"lg2.approx.f32$0,$1;", unary<llvm::Intrinsic::log2>},
    {"sqrt.approx.f32$0,$1;", unary<llvm::Intrinsic::sqrt>},
    {"sin.approx.f32$0,$1;", unary<llvm::Intrinsic::sin>},
    {"cos.approx.f32$0,$1;", unary<llvm::Intrinsic::cos>},
    {"tanh.approx.f32$0,$1;", unary<llvm::Intrinsic::tanh>},
    {"rcp.approx.f32$0,$1;", reciprocal},
    {"rsqrt.approx.f32$0,$1;", reciprocalRoot},
    {"fma.rn.f32$0,$1,$2,$3;", fusedMultiplyAdd},
    {"mov.u32$0,%laneid;", special<llvm::Intrinsic::nvvm_read_ptx_sreg_laneid>},
    {"bar.sync0;", barrier},
    {"membar.gl;", fence},
    {"membar.cta;", fence},
    {"membar.sys;", fence},
    {"ld.global.nc.f32$0,[$1];", load},
    {"ld.global.nc.u32$0,[$1];", load},
    {"ld.global.nc.s32$0,[$1];", load},
};

/// The instruction in one spelling: "ex2.approx.ftz.f32 $0, $1;" and "ex2.approx.f32  $0,$1 ;" are the same.
std::string spelled(llvm::StringRef text) {
  std::string plain;
  for (char c : text)
    if (!std::isspace(static_cast<unsigned char>(c)))
      plain.push_back(c);
  if (size_t at = plain.find(".ftz"); at != std::string::npos)
    plain.erase(at, 4);
  return plain;
}
} // namespace

void translateInlinePtx(llvm::Module &ir) {
  llvm::SmallVector<llvm::CallInst *> calls;
  for (llvm::Function &function : ir)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm())
        calls.push_back(call);
  for (llvm::CallInst *call : calls) {
    std::string text = spelled(llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString());
    for (const Instruction &instruction : instructions) {
      if (instruction.text != text)
        continue;
      IRBuilder<> builder(call);
      Value *value = instruction.make(builder, *call);
      if (!call->getType()->isVoidTy())
        call->replaceAllUsesWith(value);
      call->eraseFromParent();
      break;
    }
  }
}

} // namespace opsight::cuda
