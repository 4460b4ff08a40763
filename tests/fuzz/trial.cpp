#include "fuzz/trial.h"
#include "base/file.h"
#include "cuda/frontend.h"
#include "cuda/pipeline.h"
#include "fuzz/memory.h"
#include <filesystem>
#include <fmt/format.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <map>
#include <unistd.h>

namespace opsight::fuzz {

static std::string nameOf(size_t index) { return fmt::format("kernel{}", index); }

Result<Source> Source::parse(std::span<const Kernel> kernels) {
  std::string text = "#include <cuda_fp16.h>\n" + prelude();
  for (size_t i = 0; i < kernels.size(); ++i)
    text += kernels[i].source(nameOf(i));
  cuda::CompileRequest request;
  request.file = std::filesystem::temp_directory_path() / fmt::format("opsight-fuzz-{}.cu", ::getpid());
  request.kernel = nameOf(0);
  if (Status written = writeFile(request.file, text); !written)
    return std::unexpected(written.error());
  auto module = cuda::parseKernel(request);
  std::filesystem::remove(request.file);
  if (!module)
    return std::unexpected(module.error());
  Source source;
  source.module_ = std::move(*module);
  return source;
}

Result<cuda::Module> Source::scalar(size_t index, int level) const {
  cuda::Module copy;
  copy.ir = llvm::CloneModule(*module_.ir);
  if (Status reduced = cuda::reduceToKernel(*copy.ir, nameOf(index)); !reduced)
    return std::unexpected(reduced.error());
  cuda::optimise(*copy.ir, level);
  return copy;
}

static std::string firstDifference(const Memory &memory, const std::vector<std::byte> &want,
                                   const std::vector<std::byte> &got) {
  auto [a, b] = std::ranges::mismatch(want, got);
  if (a == want.end())
    return {};
  return fmt::format("{}: the byte should be {:#x} and is {:#x}", memory.place(size_t(a - want.begin())), unsigned(*a),
                     unsigned(*b));
}

namespace {
/// A kernel at one level of the front end, with what it means.
struct Meaning {
  cuda::Module scalar;
  std::vector<std::byte> outputs;
};
} // namespace

Outcome Source::run(const Kernel &kernel, size_t index, std::span<const unsigned> chosen,
                    const std::function<void(unsigned)> &reached) const {
  Memory memory(kernel);
  Launch launch{kernel.grid, kernel.block, memory.arguments(), kernel.sharedBytes};
  std::map<int, Meaning> meanings;
  for (unsigned number : chosen) {
    int level = settingOf(number).frontEnd;
    if (meanings.contains(level))
      continue;
    auto scalar = this->scalar(index, level);
    if (!scalar)
      return {Outcome::NoMeaning, describe(scalar.error())};
    memory.reset();
    if (auto why = interpret(*scalar->ir->getFunction(nameOf(index)), launch, memory.all()))
      return {Outcome::NoMeaning, *why};
    meanings.try_emplace(level, Meaning{std::move(*scalar), memory.outputs()});
  }
  if (meanings.size() == 2)
    if (std::string where = firstDifference(memory, meanings.at(0).outputs, meanings.at(3).outputs); !where.empty())
      return {Outcome::NoMeaning, "it means another thing once optimised: " + where};
  for (unsigned number : chosen) {
    reached(number);
    Setting setting = settingOf(number);
    const Meaning &meaning = meanings.at(setting.frontEnd);
    auto machine = Machine::compile(meaning.scalar, nameOf(index), kernel.block, setting);
    if (!machine)
      return {Outcome::Different, setting.name() + ": " + describe(machine.error())};
    for (uint64_t order : {uint64_t(0), kernel.seed}) {
      memory.reset();
      Status done = machine->run(launch, order, memory.all());
      std::string wrong = done ? firstDifference(memory, meaning.outputs, memory.outputs()) : describe(done.error());
      if (!wrong.empty())
        return {Outcome::Different, fmt::format("{}, order {}: {}", setting.name(), order, wrong)};
    }
  }
  return {};
}

} // namespace opsight::fuzz
