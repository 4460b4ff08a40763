// The warp machine under test: its passes, LLVM's code generator, and the code in this process.
#pragma once
#include "base/error.h"
#include "cuda/module.h"
#include "fuzz/interpreter.h"
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <memory>

namespace opsight::fuzz {

/// One way to compile a kernel.
struct Setting {
  unsigned lanes;
  const char *processor;
  bool optimised; // by LLVM's -O3 at the end
  int frontEnd;   // level of the front end, 0 or 3
  bool checked;   // the kernel checks itself, and must suspect nothing
  std::string name() const;
};
inline constexpr unsigned settings = 64;
Setting settingOf(unsigned number);

class Machine {
public:
  /// Of the kernel of `scalar`, the front end's IR.
  static Result<Machine> compile(const cuda::Module &scalar, const std::string &symbol, card::Dim3 block,
                                 const Setting &setting);
  /// Runs all blocks, warps in the order that `order` stands for. A fault that the kernel reports is an error.
  Status run(const Launch &launch, uint64_t order, std::span<const std::span<std::byte>> memory);

private:
  Result<std::vector<uint64_t>> shadowFor(const Launch &launch, uint64_t order,
                                          std::span<const std::span<std::byte>> memory) const;

  card::Manifest manifest_{};
  std::shared_ptr<const card::Watch> watch_{}; // of a kernel under checks
  std::unique_ptr<llvm::orc::LLJIT> jit_{};
  uint64_t entry_ = 0;
};

} // namespace opsight::fuzz
