// The registers that the machine fills: where a thread stands, and clocks.
#include "cuda/ptx/site.h"
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace opsight::cuda::ptx {
namespace {
using llvm::IRBuilder, llvm::Value;
namespace I = llvm::Intrinsic;

struct Special {
  llvm::StringRef name; // behind "%"
  I::ID intrinsic;
};
constexpr Special registers[] = {
    {"tid.x", I::nvvm_read_ptx_sreg_tid_x},       {"tid.y", I::nvvm_read_ptx_sreg_tid_y},
    {"tid.z", I::nvvm_read_ptx_sreg_tid_z},       {"ntid.x", I::nvvm_read_ptx_sreg_ntid_x},
    {"ntid.y", I::nvvm_read_ptx_sreg_ntid_y},     {"ntid.z", I::nvvm_read_ptx_sreg_ntid_z},
    {"ctaid.x", I::nvvm_read_ptx_sreg_ctaid_x},   {"ctaid.y", I::nvvm_read_ptx_sreg_ctaid_y},
    {"ctaid.z", I::nvvm_read_ptx_sreg_ctaid_z},   {"nctaid.x", I::nvvm_read_ptx_sreg_nctaid_x},
    {"nctaid.y", I::nvvm_read_ptx_sreg_nctaid_y}, {"nctaid.z", I::nvvm_read_ptx_sreg_nctaid_z},
    {"laneid", I::nvvm_read_ptx_sreg_laneid},     {"clock", I::nvvm_read_ptx_sreg_clock},
    {"clock64", I::nvvm_read_ptx_sreg_clock64},   {"globaltimer", I::nvvm_read_ptx_sreg_globaltimer},
};

Value *read(IRBuilder<> &b, I::ID intrinsic) { return b.CreateIntrinsic(intrinsic, {}); }

/// The threads of the block before this one, in the order in which they fill warps.
Value *threadNumber(IRBuilder<> &b) {
  Value *row = b.CreateMul(read(b, I::nvvm_read_ptx_sreg_tid_z), read(b, I::nvvm_read_ptx_sreg_ntid_y));
  row = b.CreateAdd(row, read(b, I::nvvm_read_ptx_sreg_tid_y));
  return b.CreateAdd(b.CreateMul(row, read(b, I::nvvm_read_ptx_sreg_ntid_x)), read(b, I::nvvm_read_ptx_sreg_tid_x));
}

Value *warpCount(IRBuilder<> &b) {
  Value *threads = b.CreateMul(read(b, I::nvvm_read_ptx_sreg_ntid_x), read(b, I::nvvm_read_ptx_sreg_ntid_y));
  threads = b.CreateMul(threads, read(b, I::nvvm_read_ptx_sreg_ntid_z));
  return b.CreateLShr(b.CreateAdd(threads, b.getInt32(31)), 5);
}

Value *laneMask(IRBuilder<> &b, llvm::StringRef which) {
  Value *own = b.CreateShl(b.getInt32(1), read(b, I::nvvm_read_ptx_sreg_laneid));
  Value *below = b.CreateSub(own, b.getInt32(1));
  if (which == "eq")
    return own;
  if (which == "lt")
    return below;
  if (which == "le")
    return b.CreateOr(below, own);
  if (which == "ge")
    return b.CreateNot(below);
  return which == "gt" ? b.CreateNot(b.CreateOr(below, own)) : nullptr;
}
} // namespace

Value *specialRegister(IRBuilder<> &b, llvm::StringRef name) {
  if (name == "WARP_SZ")
    return b.getInt32(32);
  if (!name.consume_front("%"))
    return nullptr;
  for (const Special &row : registers)
    if (row.name == name)
      return read(b, row.intrinsic);
  if (name.consume_front("lanemask_"))
    return laneMask(b, name);
  if (name == "warpid")
    return b.CreateLShr(threadNumber(b), 5);
  if (name == "nwarpid")
    return warpCount(b);
  if (name == "smid")
    return b.getInt32(0);
  return name == "nsmid" ? b.getInt32(1) : nullptr;
}

} // namespace opsight::cuda::ptx
