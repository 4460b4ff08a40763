#include "lower/native/host.h"
#include "lower/lower.h"
#include <fmt/format.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/TargetParser/Triple.h>
#include <mutex>

namespace opsight::lower::native {

static std::string hostFeatures() {
  llvm::SubtargetFeatures features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.AddFeature(feature.first(), feature.second);
  return features.getString();
}

Result<std::unique_ptr<llvm::TargetMachine>> targetMachine(const std::string &processor) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return internalError(message);
  bool host = processor == "native";
  std::string name = host ? llvm::sys::getHostCPUName().str() : processor;
  std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, "", ""));
  if (!known->isCPUStringValid(name))
    return userError(fmt::format("no processor is called '{}'", processor), "write native or x86-64-v3");
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, name, host ? hostFeatures() : "", llvm::TargetOptions(), llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

} // namespace opsight::lower::native

namespace opsight::lower {

Result<unsigned> nativeLanes(const std::string &processor) {
  auto machine = native::targetMachine(processor);
  if (!machine)
    return std::unexpected(machine.error());
  return (*machine)->getMCSubtargetInfo()->checkFeatures("+avx512f") ? 16u : 8u;
}

} // namespace opsight::lower
