// The wrapper around every pass; see pipeline.h.
#include "lower/pipeline.h"
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <unistd.h>

namespace opsight::lower {

static void writeIr(const llvm::Module &module, const std::string &path) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (!error)
    module.print(out, nullptr);
}

std::string keepIr(const Context &context, std::string_view why) {
  std::error_code error;
  auto folder = std::filesystem::temp_directory_path(error);
  auto path = folder / fmt::format("opsight-{}-{}-{}.ll", context.manifest.entry.substr(0, 60), why, getpid());
  writeIr(context.module, path.string());
  return path.string();
}

static Status verify(const Context &context, const Pass &pass) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (!llvm::verifyModule(context.module, &stream))
    return {};
  return internalError(fmt::format("the pass {} made invalid IR: {}", pass.name, message),
                       fmt::format("send in {}", keepIr(context, pass.name)));
}

Status runPasses(Context &context, std::span<const Pass *const> passes) {
  const char *dumps = std::getenv("OPSIGHT_DUMP");
  const char *times = std::getenv("OPSIGHT_TIMES");
  int position = 0;
  for (const Pass *pass : passes) {
    auto start = std::chrono::steady_clock::now();
    if (Status done = pass->run(context); !done)
      return done;
    if (times) {
      std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
      llvm::errs() << fmt::format("{:>24} {:8.2f} ms\n", pass->name, spent.count());
    }
    if (dumps)
      writeIr(context.module, fmt::format("{}/{:02}-{}.ll", dumps, position++, pass->name));
    if (Status valid = verify(context, *pass); !valid)
      return valid;
  }
  return {};
}

static card::Parameter describeArgument(const llvm::Argument &argument) {
  using Kind = card::Parameter::Kind;
  const llvm::DataLayout &layout = argument.getParent()->getParent()->getDataLayout();
  bool byValue = argument.hasByValAttr();
  llvm::Type *type = byValue ? argument.getParamByValType() : argument.getType();
  bool pointer = type->isPointerTy();
  return {.name = argument.getName().str(),
          .kind = pointer ? Kind::Buffer : Kind::Scalar,
          .bytes = uint32_t(layout.getTypeAllocSize(type)),
          .alignment = uint32_t(byValue ? argument.getParamAlign().valueOrOne().value()
                                        : layout.getABITypeAlign(type).value())};
}

Result<Context> openContext(llvm::Module &module, const std::string &symbol, const Target &target) {
  Context context{.module = module, .kernel = nullptr, .target = target, .manifest = {}};
  for (llvm::Function &function : module) {
    bool named = symbol.empty() ? !function.isDeclaration() && (function.getCallingConv() == llvm::CallingConv::PTX_Kernel ||
                                                                function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL)
                                : function.getName() == symbol;
    if (named && context.kernel)
      return userError("the IR has more than one kernel", "name one");
    if (named)
      context.kernel = &function;
  }
  if (!context.kernel || context.kernel->isDeclaration())
    return userError(fmt::format("the IR has no kernel {}", symbol));
  context.manifest.kernel = context.manifest.entry = context.kernel->getName().str();
  for (llvm::Argument &argument : context.kernel->args())
    if (!argument.getName().starts_with("opsight.")) // those are passes' own
      context.manifest.parameters.push_back(describeArgument(argument));
  return context;
}

} // namespace opsight::lower
