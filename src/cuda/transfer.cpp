#include "cuda/transfer.h"
#include "base/sha256.h"
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/raw_ostream.h>
#include <nlohmann/json.hpp>

namespace opsight {
using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SourcePlace, file, line, column)

namespace cuda {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelParameter, name, type, kind, element, isConst, bytes, alignment)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Fact, kind, where, what, space, bytes, trips, unrolled)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Facts, all, staticSharedBytes, usesDynamicShared, maxThreadsPerBlock, minBlocksPerSm,
                                   where)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Kernel, name, symbol, parameters, facts)

namespace {
constexpr char separator = '\0'; // between the JSON, which cannot hold it, and the bitcode

std::string dump(const json &value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

json packError(const Error &error) {
  return {{"kind", error.kind}, {"what", error.what}, {"where", error.where}, {"next", error.next}};
}
Error unpackError(const json &packed) {
  return {packed.at("kind"), packed.at("what"), packed.at("where"), packed.at("next")};
}

/// The JSON head of `bytes`; discarded (null) when the other side wrote no whole one.
json head(const std::string &bytes) {
  return json::parse(bytes.begin(), bytes.begin() + std::min(bytes.find(separator), bytes.size()), nullptr, false);
}
std::unexpected<Error> cutShort() { return internalError("the compiler's answer was cut short"); }
} // namespace

std::string packModule(const Result<Module> &module) {
  if (!module)
    return dump({{"error", packError(module.error())}});
  std::string bytes = dump({{"kernel", module->kernel}, {"source", module->sourceFile}, {"files", module->files}});
  bytes.push_back(separator);
  llvm::raw_string_ostream out(bytes);
  llvm::WriteBitcodeToFile(*module->ir, out);
  return bytes;
}

Result<Module> unpackModule(const std::string &bytes) {
  json packed = head(bytes);
  if (packed.is_discarded())
    return cutShort();
  if (packed.contains("error"))
    return std::unexpected(unpackError(packed.at("error")));
  Module module;
  module.context = std::make_unique<llvm::LLVMContext>();
  module.kernel = packed.at("kernel");
  module.sourceFile = packed.at("source");
  module.files = packed.at("files");
  module.fingerprint = sha256(bytes);
  llvm::StringRef bitcode = llvm::StringRef(bytes).drop_front(bytes.find(separator) + 1);
  auto ir = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, module.sourceFile), *module.context);
  if (!ir)
    return internalError("the compiler's answer is unreadable: " + llvm::toString(ir.takeError()));
  module.ir = std::move(*ir);
  return module;
}

std::string packNames(const Result<std::vector<std::string>> &names) {
  return names ? dump({{"names", *names}}) : dump({{"error", packError(names.error())}});
}

Result<std::vector<std::string>> unpackNames(const std::string &bytes) {
  json packed = head(bytes);
  if (packed.is_discarded())
    return cutShort();
  if (packed.contains("error"))
    return std::unexpected(unpackError(packed.at("error")));
  return packed.at("names").get<std::vector<std::string>>();
}

} // namespace cuda
} // namespace opsight
