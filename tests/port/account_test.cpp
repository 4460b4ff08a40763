// The account of a kernel: each fact under its subject, at each call.
#include "port/account.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <llvm/IR/Module.h>

namespace opsight::port {
namespace {
using Kind = cuda::Fact::Kind;

std::string textOf(const KernelAccount &account, const std::string &subject) {
  auto line = std::ranges::find(account.lines, subject, [](const auto &each) { return each.first; });
  return line == account.lines.end() ? "no such line" : line->second;
}

cuda::Module withFacts(std::vector<cuda::Fact> facts) {
  cuda::Module module;
  module.kernel.facts.all = std::move(facts);
  return module;
}

TEST(Account, listsEachFactUnderItsSubjectAtEveryCall) {
  cuda::Module module = withFacts({{.kind = Kind::Barrier, .where = {"a.cu", 3}, .what = "__syncthreads"},
                                   {.kind = Kind::Load, .where = {"a.cu", 4}, .what = "load", .space = "global"},
                                   {.kind = Kind::Load, .where = {"a.cu", 5}, .what = "load", .space = "shared"},
                                   {.kind = Kind::Printf, .where = {"a.cu", 6}, .what = "printf"},
                                   {.kind = Kind::Assert, .where = {"a.cu", 7}, .what = "assert"}});
  for (int call = 0; call < 3; ++call) {
    KernelAccount account = accountOf(module);
    EXPECT_EQ(textOf(account, "barriers"), "1 (a.cu:3)");
    EXPECT_EQ(textOf(account, "global loads"), "1 (a.cu:4)");
    EXPECT_EQ(textOf(account, "shared loads"), "1 (a.cu:5)");
    EXPECT_EQ(textOf(account, "printf, assert"), "2 (a.cu:6, a.cu:7)");
    EXPECT_EQ(textOf(account, "global stores"), "0");
  }
}

TEST(Account, leavesOutWhatAKernelNeedNotHave) {
  KernelAccount account = accountOf(withFacts({}));
  EXPECT_EQ(textOf(account, "barriers"), "0");
  EXPECT_EQ(textOf(account, "atomics"), "no such line");
  EXPECT_EQ(textOf(account, "loops"), "none");
}

} // namespace
} // namespace opsight::port
