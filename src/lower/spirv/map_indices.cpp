// map_indices: threadIdx, blockIdx and their kin become OpenCL's work-item functions.
#include "lower/spirv/builtins.h"
#include "lower/spirv/passes.h"
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace opsight::lower::spirv {

namespace {
struct Row {
  llvm::StringRef prefix; // of llvm.nvvm.read.ptx.sreg.NAME.{x,y,z}
  llvm::StringRef builtin;
};
} // namespace

constexpr Row dimensioned[] = {
    {"tid.", "get_local_id"},
    {"ntid.", "get_local_size"},
    {"ctaid.", "get_group_id"},
    {"nctaid.", "get_num_groups"},
};

static llvm::Value *replacement(llvm::IRBuilderBase &builder, llvm::StringRef what) {
  for (const Row &row : dimensioned)
    if (what.starts_with(row.prefix) && what.size() == row.prefix.size() + 1)
      return callIndex(builder, row.builtin, unsigned(what.back() - 'x'));
  if (what == "laneid")
    return builder.CreateAnd(callLinearThread(builder), 31);
  if (what == "warpid")
    return builder.CreateLShr(callLinearThread(builder), 5);
  if (what == "warpsize")
    return builder.getInt32(32);
  return nullptr; // clocks and the like: refused with its name by strip_for_driver
}

static Status run(Context &context) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel))) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call)
      continue;
    llvm::StringRef name = call->getCalledFunction()->getName();
    if (!name.consume_front("llvm.nvvm.read.ptx.sreg."))
      continue;
    llvm::IRBuilder<> builder(call);
    if (llvm::Value *value = replacement(builder, name)) {
      call->replaceAllUsesWith(value);
      call->eraseFromParent();
    }
  }
  return {};
}

const Pass map_indices{"map_indices", "threadIdx and its kin become OpenCL's work-item functions", run};

} // namespace opsight::lower::spirv
