// Random kernels with barriers in all kinds of control flow, against the same kernels with each barrier replaced by what
// it means when every warp does the same: whatever is lost, mixed up or reused too early across a barrier shows.
#include "lower/warp_run.h"
#include <fmt/format.h>
#include <llvm/Passes/PassBuilder.h>
#include <random>

namespace opsight::lower {
namespace {

constexpr unsigned warps = 3, results = 32;

/// Writes one kernel: scalars s0 … s4, vectors v0 … v2 and an array, all variables in memory, which mem2reg then lifts.
class Author {
public:
  Author(unsigned seed, bool barriers) : random_(seed), barriers_(barriers) {}

  std::string write() {
    for (int i = 0; i < 5; ++i)
      set("s", i, name(fmt::format("add i32 %n, {}", i * 7)));
    for (int i = 0; i < 3; ++i)
      set("v", i, name(fmt::format("mul <4 x i32> {}, <i32 1, i32 {}, i32 3, i32 -5>", splat("%n"), i)));
    statements(0);
    line("br label %end");
    line("end:");
    std::string base = name("mul i32 %opsight.warp, 32");
    for (int i = 0; i < 8; ++i) {
      std::string at = name(fmt::format("add i32 {}, {}", base, i < 5 ? i : 8 + 4 * (i - 5)));
      std::string place = name(fmt::format("getelementptr i32, ptr %x, i32 {}", at));
      line(fmt::format("store {} {}, ptr {}, align 4", i < 5 ? "i32" : "<4 x i32>", i < 5 ? s(i) : v(i - 5), place));
    }
    line("ret void");
    return "define void @kernel(ptr %x, i32 %n, " + warpParameters + ") {\n" + head_ + body_ + "}\n";
  }

private:
  unsigned pick(unsigned n) { return unsigned(random_() % n); }
  void line(const std::string &text) { body_ += text + "\n"; }
  std::string name(const std::string &value) {
    std::string fresh = fmt::format("%t{}", ++names_);
    line(fresh + " = " + value);
    return fresh;
  }
  std::string variable(const std::string &kind, int i) {
    std::string alloca = fmt::format("%{}{}", kind, i), type = kind == "v" ? "<4 x i32>" : "i32";
    if (head_.find(alloca + " ") == head_.npos)
      head_ += fmt::format("{} = alloca {}\n", alloca, type);
    return alloca;
  }
  void set(const std::string &kind, int i, const std::string &value) {
    line(fmt::format("store {} {}, ptr {}", kind == "v" ? "<4 x i32>" : "i32", value, variable(kind, i)));
  }
  std::string s(unsigned i) { return name(fmt::format("load i32, ptr {}", variable("s", int(i)))); }
  std::string v(unsigned i) { return name(fmt::format("load <4 x i32>, ptr {}", variable("v", int(i)))); }
  std::string s() { return s(pick(5)); }
  std::string v() { return v(pick(3)); }
  std::string binary(const std::string &type, const std::string &a, const std::string &b) {
    const char *operations[] = {"add", "xor", "sub", "mul", "and", "or"};
    return name(fmt::format("{} {} {}, {}", operations[pick(6)], type, a, b));
  }
  std::string splat(const std::string &scalar) {
    std::string one = name(fmt::format("insertelement <4 x i32> poison, i32 {}, i32 0", scalar));
    return name(fmt::format("shufflevector <4 x i32> {}, <4 x i32> poison, <4 x i32> zeroinitializer", one));
  }
  std::string cell() {
    if (head_.find("%array ") == head_.npos)
      head_ += "%array = alloca [8 x i32]\nstore [8 x i32] zeroinitializer, ptr %array\n";
    std::string index = name(fmt::format("and i32 {}, 7", s()));
    return name(fmt::format("getelementptr i32, ptr %array, i32 {}", index));
  }
  std::string less(const std::string &a, const std::string &b) { return name(fmt::format("icmp slt i32 {}, {}", a, b)); }

  void barrier() {
    unsigned kind = pick(4), place = pick(2);
    std::string own = name(fmt::format("and i32 {}, {}", s(), kind == 1 ? 255 : 1)), result;
    if (barriers_)
      result = name(fmt::format("call i32 @opsight.barrier(i32 {}, i32 {}, i32 {})", place, kind, own));
    else
      result = kind == 1 ? name(fmt::format("mul i32 {}, {}", own, warps)) : own;
    if (kind)
      set("s", int(pick(5)), result);
  }
  void branch(unsigned depth) {
    int n = ++labels_;
    std::string odd = name(fmt::format("trunc i32 {} to i1", s()));
    line(fmt::format("br i1 {}, label %then{}, label %else{}", odd, n, n));
    line(fmt::format("then{}:", n));
    statements(depth + 1);
    line(fmt::format("br label %join{}", n));
    line(fmt::format("else{}:", n));
    if (pick(2))
      statements(depth + 1);
    line(fmt::format("br label %join{}", n));
    line(fmt::format("join{}:", n));
  }
  void loop(unsigned depth) {
    int n = ++labels_;
    std::string counter = fmt::format("%c{}", n);
    head_ += fmt::format("{} = alloca i32\n", counter);
    std::string trips = name(fmt::format("and i32 {}, 3", s()));
    line(fmt::format("store i32 {}, ptr {}", trips, counter));
    line(fmt::format("br label %loop{}", n));
    line(fmt::format("loop{}:", n));
    statements(depth + 1);
    if (pick(3) == 0) { // another way out
      line(fmt::format("br i1 {}, label %{}, label %stay{}", less(s(), s()), pick(4) ? fmt::format("exit{}", n) : "end", n));
      line(fmt::format("stay{}:", n));
      statements(depth + 1);
    }
    std::string left = name(fmt::format("add i32 {}, -1", name(fmt::format("load i32, ptr {}", counter))));
    line(fmt::format("store i32 {}, ptr {}", left, counter));
    line(fmt::format("br i1 {}, label %loop{}, label %exit{}", less("0", left), n, n));
    line(fmt::format("exit{}:", n));
  }
  void statements(unsigned depth) {
    for (unsigned i = 2 + pick(5); i > 0; --i)
      statement(depth);
  }
  void statement(unsigned depth) {
    switch (pick(depth < 3 ? 11 : 8)) {
    case 0:
      return set("s", int(pick(5)), binary("i32", s(), s()));
    case 1:
      return set("v", int(pick(3)), binary("<4 x i32>", v(), splat(s())));
    case 2:
      return set("v", int(pick(3)), binary("<4 x i32>", v(), v()));
    case 3:
      return set("s", int(pick(5)), name(fmt::format("extractelement <4 x i32> {}, i32 {}", v(), pick(4))));
    case 4:
      return set("s", int(pick(5)), name(fmt::format("zext i1 {} to i32", less(s(), s()))));
    case 5: {
      std::string value = s(); // the order of what is written must not be the compiler's
      return line(fmt::format("store i32 {}, ptr {}", value, cell()));
    }
    case 6:
      return set("s", int(pick(5)), name(fmt::format("load i32, ptr {}", cell())));
    case 7:
    case 8:
      return barrier();
    case 9:
      return branch(depth);
    default:
      return loop(depth);
    }
  }

  std::mt19937 random_;
  bool barriers_;
  std::string head_, body_;
  int names_ = 0, labels_ = 0;
};

void liftVariables(llvm::Module &module) {
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, "function(mem2reg,instsimplify)"));
  passes.run(module, modules);
}

class RandomKernels : public OnWarps, public testing::WithParamInterface<unsigned> {};

TEST_P(RandomKernels, GiveWithBarriersWhatTheyGiveWithout) {
  std::vector<int> got[2];
  for (bool barriers : {false, true}) {
    auto artifact = warpArtifact(Author(GetParam(), barriers).write(), warps, liftVariables);
    ASSERT_TRUE(artifact) << describe(artifact.error());
    for (int n : {0, 1, 6, 13}) {
      std::vector<int> values = launch(*artifact, warps, warps * results, n, {}, uint64_t(n));
      EXPECT_EQ(launched.end, card::Launched::End::Done) << launched.detail;
      got[barriers].insert(got[barriers].end(), values.begin(), values.end());
    }
  }
  EXPECT_EQ(got[0], got[1]) << Author(GetParam(), true).write();
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomKernels, testing::Range(1u, 31u));

} // namespace
} // namespace opsight::lower
