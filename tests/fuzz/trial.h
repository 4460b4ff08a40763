// One kernel, compiled once, on the interpreter and on the machine: do they agree?
#pragma once
#include "cuda/module.h"
#include "fuzz/kernel.h"
#include "fuzz/machine.h"
#include <functional>

namespace opsight::fuzz {

struct Outcome {
  enum Kind { Same, Different, NoMeaning } kind = Same;
  std::string detail{}; // of the first difference; why the kernel has no meaning
};

/// The kernels' IR as Clang makes it, not yet reduced to one of them. An error where the text is not CUDA.
class Source {
public:
  static Result<Source> parse(std::span<const Kernel> kernels);
  /// `reached` is called ahead of each setting.
  Outcome run(const Kernel &kernel, size_t index, std::span<const unsigned> settings,
              const std::function<void(unsigned)> &reached) const;

private:
  Result<cuda::Module> scalar(size_t index, int level) const;
  cuda::Module module_;
};

} // namespace opsight::fuzz
