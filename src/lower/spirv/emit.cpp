// See emit.h. Between the back end and the validator the words are mended once: LLVM writes scalar zeros as
// OpConstantNull, on which Debian's llvm-spirv-15 asserts.
#include "lower/spirv/emit.h"
#include "cuda/isolate.h"
#include <cstring>
#include <span>
#include <fmt/format.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <map>
#include <memory>
#include <mutex>
#include <spirv-tools/libspirv.hpp>
#include <vector>

extern "C" {
void LLVMInitializeSPIRVTargetInfo();
void LLVMInitializeSPIRVTarget();
void LLVMInitializeSPIRVTargetMC();
void LLVMInitializeSPIRVAsmPrinter();
}

namespace opsight::lower::spirv {

static std::unique_ptr<llvm::TargetMachine> createMachine(const llvm::Module &module, std::string &problem) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeSPIRVTargetInfo();
    LLVMInitializeSPIRVTarget();
    LLVMInitializeSPIRVTargetMC();
    LLVMInitializeSPIRVAsmPrinter();
  });
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(module.getTargetTriple(), problem);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      module.getTargetTriple(), "", "", llvm::TargetOptions{}, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
}

// LLVM's preparation for processors makes what SPIR-V's readers lack (an addition and its comparison become OpIAddCarry,
// which llvm-spirv-15 does not know) or what the back end mistranslates (loop strength reduction counts in i2, which is
// then held in an i8 without its mask), and nothing that a driver would not do itself.
static void skipPreparation() {
  auto &options = llvm::cl::getRegisteredOptions();
  for (const char *name : {"disable-cgp", "disable-lsr"})
    if (auto found = options.find(name); found != options.end())
      found->second->addOccurrence(1, name, "true");
}

static Result<std::string> writeObject(llvm::Module &module) {
  skipPreparation();
  std::string problem;
  auto machine = createMachine(module, problem);
  if (!machine)
    return internalError("LLVM has no SPIR-V target: " + problem);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return internalError("LLVM's SPIR-V back end cannot write a binary");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

// LLVM 22's SPIR-V back end keeps tables in static memory that a second module in the same process finds stale (ids are
// then defined twice), so each module gets a process of its own.
static Result<std::string> runBackEnd(llvm::Module &module) {
  constexpr char good = '+', bad = '-';
  Result<std::string> answer = cuda::runIsolated(module.getName().str(), {}, [&]() -> std::string {
    Result<std::string> bytes = writeObject(module);
    return bytes ? good + *bytes : bad + bytes.error().what;
  });
  if (!answer)
    return answer;
  if (answer->empty() || answer->front() != good)
    return internalError(answer->empty() ? "LLVM's SPIR-V back end ended without a word" : answer->substr(1));
  return answer->substr(1);
}

namespace {
namespace op { // the instructions that mending must know; SPIR-V specification, section 3.49
constexpr uint32_t capability = 17, typeInt = 21, typeFloat = 22, typeBool = 20, constantFalse = 42, constant = 43,
                   constantNull = 46;
} // namespace op
constexpr uint32_t float16 = 9, int64Atomics = 12; // capabilities
constexpr size_t headerWords = 5;
} // namespace

static std::vector<uint32_t> replaceScalarNulls(std::span<const uint32_t> words) {
  std::map<uint32_t, uint32_t> widthOf; // of scalar types; 1 is bool
  std::vector<uint32_t> mended(words.begin(), words.begin() + headerWords);
  for (size_t at = headerWords; at < words.size();) {
    uint32_t count = words[at] >> 16, opcode = words[at] & 0xFFFF;
    if (count == 0)
      break; // the validator will say so
    if (opcode == op::typeInt || opcode == op::typeFloat)
      widthOf[words[at + 1]] = words[at + 2];
    else if (opcode == op::typeBool)
      widthOf[words[at + 1]] = 1;
    auto width = opcode == op::constantNull ? widthOf.find(words[at + 1]) : widthOf.end();
    if (width == widthOf.end()) {
      mended.insert(mended.end(), words.begin() + at, words.begin() + std::min(at + count, words.size()));
    } else {
      uint32_t zeros = width->second == 1 ? 0 : width->second > 32 ? 2 : 1;
      mended.push_back((3 + zeros) << 16 | (zeros ? op::constant : op::constantFalse));
      mended.insert(mended.end(), {words[at + 1], words[at + 2]});
      mended.insert(mended.end(), zeros, 0);
    }
    at += count;
  }
  return mended;
}

// Half precision and 64-bit atomics are extensions of OpenCL that the manifest asks of the device; the validator knows no
// OpenCL environment that has them.
static bool needsExtensions(std::span<const uint32_t> words) {
  for (size_t at = headerWords; at + 1 < words.size() && (words[at] & 0xFFFF) == op::capability; at += words[at] >> 16)
    if (words[at + 1] == float16 || words[at + 1] == int64Atomics)
      return true;
  return false;
}

// The validator's OpenCL environments end with SPIR-V 1.2; subgroups need 1.3.
static spv_target_env environmentOf(std::span<const uint32_t> words) {
  constexpr uint32_t version13 = 0x00010300;
  if (words[1] >= version13)
    return SPV_ENV_UNIVERSAL_1_3;
  return needsExtensions(words) ? SPV_ENV_UNIVERSAL_1_0 : SPV_ENV_OPENCL_2_0;
}

static Result<Binary> validate(std::span<const uint32_t> words) {
  spvtools::SpirvTools tools(environmentOf(words));
  std::string messages;
  tools.SetMessageConsumer([&](spv_message_level_t, const char *, const spv_position_t &position, const char *message) {
    messages += fmt::format("{}: {}\n", position.index, message);
  });
  Binary binary;
  tools.Disassemble(words.data(), words.size(), &binary.readable,
                    SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES);
  if (!tools.Validate(words.data(), words.size()))
    return internalError("the SPIR-V that was made is not valid: " + messages);
  binary.words.assign(reinterpret_cast<const char *>(words.data()), words.size() * sizeof(uint32_t));
  return binary;
}

Result<Binary> emit(llvm::Module &module) {
  Result<std::string> bytes = runBackEnd(module);
  if (!bytes)
    return std::unexpected(bytes.error());
  std::vector<uint32_t> words(bytes->size() / sizeof(uint32_t));
  std::memcpy(words.data(), bytes->data(), words.size() * sizeof(uint32_t));
  if (words.size() < headerWords)
    return internalError("LLVM's SPIR-V back end wrote nothing");
  return validate(replaceScalarNulls(words));
}

} // namespace opsight::lower::spirv
