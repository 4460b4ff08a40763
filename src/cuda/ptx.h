// Inline PTX into LLVM IR, by tables of instructions (ptx/site.h lists them; docs/ptx.md says what they hold).
#pragma once
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <string>

namespace opsight::cuda {

/// Replaces every asm("…") that is understood whole. Any other stays, with a note of why, until it is known whether the
/// kernel reaches it at all.
void translateInlinePtx(llvm::Module &ir);

/// What of `call`, an asm that stayed, is not understood: "inline PTX 'mbarrier.init.shared.b64' has no translation".
std::string untranslatedPtx(const llvm::CallBase &call);

} // namespace opsight::cuda
