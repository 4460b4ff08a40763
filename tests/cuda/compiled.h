// Helpers of these tests: source text in, module or error out; and what a module's IR says.
#pragma once
#include "cuda/compile.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/raw_ostream.h>
#include <map>

namespace opsight::testing {

/// A file of the current test's own, with `text` in it.
inline std::string writeSource(const std::string &text, const std::string &name = "kernel.cu") {
  const auto *info = ::testing::UnitTest::GetInstance()->current_test_info();
  std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "opsight_cuda" / (std::string(info->test_suite_name()) + "." + info->name());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name) << text;
  return folder / name;
}

inline cuda::CompileRequest request(const std::string &text, const std::string &kernel = "") {
  cuda::CompileRequest made;
  made.file = writeSource(text);
  made.kernel = kernel;
  return made;
}

inline Result<cuda::Module> compiled(const std::string &text, const std::string &kernel = "", int optimization = 3) {
  cuda::CompileRequest made = request(text, kernel);
  made.optimization = optimization;
  return cuda::compile(made);
}

/// The module, or a failed test that shows why there is none.
inline cuda::Module compiledOk(const std::string &text, const std::string &kernel = "", int optimization = 3) {
  Result<cuda::Module> module = compiled(text, kernel, optimization);
  if (!module) {
    ADD_FAILURE() << describe(module.error());
    return {};
  }
  return std::move(*module);
}

inline std::string irOf(const cuda::Module &module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (module.ir)
    module.ir->print(out, nullptr);
  return text;
}

inline size_t occurrences(const std::string &text, const std::string &part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++n;
  return n;
}

/// The constants that the kernel stores through its first parameter, as bits, by byte offset.
inline std::map<int64_t, uint64_t> storedConstants(const cuda::Module &module) {
  std::map<int64_t, uint64_t> stored;
  if (!module.ir)
    return stored;
  const llvm::Function *kernel = module.ir->getFunction(module.kernel.symbol);
  for (const llvm::Instruction &instruction : llvm::instructions(kernel)) {
    const auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store)
      continue;
    llvm::APInt offset(64, 0);
    const llvm::Value *base = store->getPointerOperand()->stripAndAccumulateConstantOffsets(
        module.ir->getDataLayout(), offset, /*AllowNonInbounds=*/true);
    if (llvm::getUnderlyingObject(base) != kernel->getArg(0))
      continue;
    if (const auto *integer = llvm::dyn_cast<llvm::ConstantInt>(store->getValueOperand()))
      stored[offset.getSExtValue()] = integer->getZExtValue();
    if (const auto *number = llvm::dyn_cast<llvm::ConstantFP>(store->getValueOperand()))
      stored[offset.getSExtValue()] = number->getValueAPF().bitcastToAPInt().getZExtValue();
  }
  return stored;
}

/// Values of `expressions`, of type TYPE, folded to constants: an index's bits.
inline std::map<int64_t, uint64_t> folded(const std::string &type, uint64_t bytes,
                                          const std::vector<std::string> &expressions, const std::string &head = "") {
  std::string text = head + "\n__global__ void k(" + type + " *o) {\n";
  for (size_t i = 0; i < expressions.size(); ++i) // volatile, lest neighbours are stored as one
    text += "  *(volatile " + type + " *)(o + " + std::to_string(i) + ") = " + expressions[i] + ";\n";
  std::map<int64_t, uint64_t> byIndex;
  for (auto [offset, bits] : storedConstants(compiledOk(text + "}\n")))
    byIndex[offset / int64_t(bytes)] = bits;
  return byIndex;
}

inline void expectError(const Result<cuda::Module> &module, ErrorKind kind, const std::string &part, unsigned line = 0) {
  ASSERT_FALSE(module.has_value()) << "compiled, but should not";
  EXPECT_EQ(int(module.error().kind), int(kind)) << describe(module.error());
  EXPECT_NE(describe(module.error()).find(part), std::string::npos)
      << "wanted: " << part << "\ngot: " << describe(module.error());
  if (line)
    EXPECT_EQ(module.error().where.line, line) << describe(module.error());
}

} // namespace opsight::testing
