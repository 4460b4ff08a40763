// opsight-opt: runs passes of ours, by name, over one IR file and prints the IR. For developers of Opsight and for the
// FileCheck tests of tests/lower/.
#include "base/error.h"
#include "lower/pipeline.h"
#include "lower/registry.h"
#include "lower/spirv/emit.h"
#include "lower/spirv/passes.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

using namespace opsight;

namespace {
struct Options {
  std::string file = "-", kernel, emit;
  std::vector<std::string> passes;
  std::vector<uint32_t> block = {1}, subgroups;
  std::string processor = "native";
  unsigned lanes = 0;
  bool noHalf = false, watched = false, checked = false, list = false;
};
} // namespace

static int report(const Error &error) {
  fmt::print(stderr, "opsight-opt: {}\n", describe(error));
  return exitCode(error.kind);
}

static lower::Target targetOf(const Options &options) {
  auto extent = [&](size_t i) { return i < options.block.size() ? options.block[i] : 1; };
  lower::Target target;
  target.block = {extent(0), extent(1), extent(2)};
  target.subgroupWidths = {options.subgroups.begin(), options.subgroups.end()};
  target.hasHalf = !options.noHalf;
  target.processor = options.processor;
  target.lanes = options.lanes;
  target.watched = options.checked   ? lower::Watched::Checked
                   : options.watched ? lower::Watched::Published
                                     : lower::Watched::No;
  return target;
}

static Result<std::vector<const lower::Pass *>> choosePasses(const Options &options) {
  std::vector<const lower::Pass *> chosen;
  if (!options.emit.empty())
    chosen.assign(lower::spirv::passes().begin(), lower::spirv::passes().end());
  for (const std::string &name : options.passes) {
    const lower::Pass *pass = lower::findPass(name);
    if (!pass)
      return userError(fmt::format("no pass is called {}", name), "opsight-opt --list names them");
    chosen.push_back(pass);
  }
  return chosen;
}

static Status runOver(llvm::Module &module, const Options &options) {
  Result<lower::Context> context = lower::openContext(module, options.kernel, targetOf(options));
  if (!context)
    return std::unexpected(context.error());
  auto passes = choosePasses(options);
  if (!passes)
    return std::unexpected(passes.error());
  if (Status done = lower::runPasses(*context, *passes); !done)
    return done;
  if (options.emit.empty()) {
    module.print(llvm::outs(), nullptr);
    return {};
  }
  Result<lower::spirv::Binary> binary = lower::spirv::emit(module);
  if (!binary)
    return std::unexpected(binary.error());
  llvm::outs() << (options.emit == "spirv" ? binary->words : binary->readable);
  return {};
}

int main(int argc, char **argv) {
  CLI::App app{"opsight-opt -p map_barriers kernel.ll    runs one pass of ours and prints the IR", "opsight-opt"};
  Options options;
  app.add_option("file", options.file, "LLVM IR, text or bitcode; - is standard input");
  app.add_option("-p,--pass", options.passes, "a pass to run; repeatable, in order")->allow_extra_args(false);
  app.add_option("--kernel", options.kernel, "the kernel's symbol, where the file has several");
  app.add_option("--block", options.block, "threads of a block, x[,y[,z]]")->allow_extra_args(false)->delimiter(',');
  app.add_option("--subgroups", options.subgroups, "subgroup widths of the device")->allow_extra_args(false)->delimiter(',');
  app.add_option("--emit", options.emit, "the whole pipeline, then the back end")->check(CLI::IsMember({"spirv", "spvasm"}));
  app.add_option("--processor", options.processor, "of native code: what -march takes");
  app.add_option("--lanes", options.lanes, "threads that one vector of native code holds");
  app.add_flag("--no-half", options.noHalf, "a device without half precision");
  app.add_flag("--watched", options.watched, "native code that publishes what it does");
  app.add_flag("--checked", options.checked, "native code that checks what it does");
  app.add_flag("--list", options.list, "name all passes");
  CLI11_PARSE(app, argc, argv);
  if (options.list) {
    for (const lower::Pass *pass : lower::allPasses())
      fmt::print("{:24} {}\n", pass->name, pass->idea);
    return 0;
  }
  llvm::LLVMContext llvmContext;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseIRFile(options.file, diagnostic, llvmContext);
  if (!module) {
    diagnostic.print("opsight-opt", llvm::errs());
    return exitCode(ErrorKind::User);
  }
  Status done = runOver(*module, options);
  return done ? 0 : report(done.error());
}
