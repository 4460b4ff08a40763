#include "fuzz/machine.h"
#include "card/cpu/abi.h"
#include "card/message.h"
#include "card/shadow_plan.h"
#include "lower/native/host.h"
#include "lower/pipeline.h"
#include "lower/warp/passes.h"
#include <fmt/format.h>
#include <list>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

namespace opsight::fuzz {

std::string Setting::name() const {
  return fmt::format("{} lanes, {}, {}, front end -O{}{}", lanes, processor, optimised ? "optimised" : "unoptimised",
                     frontEnd, checked ? ", checked" : "");
}

Setting settingOf(unsigned number) {
  const unsigned lanes[] = {8, 16, 32, 64}; // 64: of kernels whose threads ask their warp for nothing
  return {lanes[number % 4], number / 4 % 2 ? "x86-64-v3" : "native", number / 8 % 2 == 0, number / 16 % 2 ? 0 : 3,
          number / 32 % 2 == 1};
}

static Result<std::unique_ptr<llvm::MemoryBuffer>> objectOf(llvm::Module &module, const Setting &setting) {
  auto machine = lower::native::targetMachine(setting.processor);
  if (!machine)
    return std::unexpected(machine.error());
  if (!setting.optimised) // what is tested comes before; registers chosen well take most of the time
    (*machine)->setOptLevel(llvm::CodeGenOptLevel::None);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return internalError("no object code");
  passes.run(module);
  return llvm::MemoryBuffer::getMemBufferCopy({bytes.data(), bytes.size()});
}

Result<Machine> Machine::compile(const cuda::Module &scalar, const std::string &symbol, card::Dim3 block,
                                 const Setting &setting) {
  cuda::Module copy = scalar.clone(); // in a context of its own, as toNative() does
  llvm::Module *module = copy.ir.get();
  lower::Target target;
  target.block = block;
  target.lanes = setting.lanes;
  target.processor = setting.processor;
  target.watched = setting.checked ? lower::Watched::Checked : lower::Watched::No;
  auto context = lower::openContext(*module, symbol, target);
  if (!context)
    return std::unexpected(context.error());
  for (size_t i = 0; i < context->manifest.parameters.size(); ++i)
    context->manifest.parameters[i].name = fmt::format("parameter {}", i); // by which a launch says where each is
  std::vector<const lower::Pass *> passes;
  for (const lower::Pass *pass : lower::warp::passes())
    if (setting.optimised || pass->name != "optimise")
      passes.push_back(pass);
  if (Status done = lower::runPasses(*context, passes); !done)
    return std::unexpected(done.error());
  auto object = objectOf(*module, setting);
  if (!object)
    return std::unexpected(object.error());
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return internalError(llvm::toString(jit.takeError()));
  if (auto failed = (*jit)->addObjectFile(std::move(*object)))
    return internalError(llvm::toString(std::move(failed)));
  auto entry = (*jit)->lookup(context->manifest.entry);
  if (!entry)
    return internalError(llvm::toString(entry.takeError()));
  Machine machine;
  machine.manifest_ = std::move(context->manifest);
  machine.watch_ = std::move(context->watch);
  machine.jit_ = std::move(*jit);
  machine.entry_ = entry->getValue();
  return machine;
}

/// Empty where the kernel is not checked.
Result<std::vector<uint64_t>> Machine::shadowFor(const Launch &launch, uint64_t order,
                                                 std::span<const std::span<std::byte>> memory) const {
  if (!watch_)
    return std::vector<uint64_t>{};
  std::vector<card::Region> regions;
  for (const card::Parameter &parameter : manifest_.parameters)
    if (parameter.kind == card::Parameter::Kind::Buffer) {
      auto bytes = memory[regions.size()];
      regions.push_back({parameter.name, reinterpret_cast<uint64_t>(bytes.data()), bytes.size(), true});
    }
  card::WatchedLaunch seen{*watch_, {launch.grid, launch.block, launch.sharedBytes, order}, regions};
  auto planned = card::LaunchShadow::plan(seen, 1 << 28);
  if (auto *why = std::get_if<std::string>(&planned))
    return internalError("it cannot be checked: " + *why);
  const auto &shadow = std::get<card::LaunchShadow>(planned);
  std::vector<uint64_t> words(shadow.bytes() / 8 + 1);
  shadow.fill(std::as_writable_bytes(std::span(words)));
  return words;
}

Status Machine::run(const Launch &launch, uint64_t order, std::span<const std::span<std::byte>> memory) {
  auto shadow = shadowFor(launch, order, memory);
  if (!shadow)
    return std::unexpected(shadow.error());
  void *shadowStart = shadow->data();
  alignas(64) std::vector<uint32_t> messages(4 + card::messageWords);
  auto *header = reinterpret_cast<card::MessageHeader *>(messages.data());
  header->capacity = card::messageWords;
  std::vector<const void *> arguments;
  std::list<std::string> symbols; // what the front end calls constant is another variable of the launch here
  std::list<const char *> addresses;
  for (size_t i = 0, next = 0; i < manifest_.parameters.size(); ++i) {
    using Kind = card::Parameter::Kind;
    Kind kind = manifest_.parameters[i].kind;
    if (kind == Kind::Buffer || kind == Kind::Scalar)
      arguments.push_back(&launch.arguments[next++]);
    else if (kind == Kind::Message)
      arguments.push_back(&header);
    else if (kind == Kind::Shadow)
      arguments.push_back(&shadowStart);
    else if (kind == Kind::DynamicShared)
      arguments.push_back(nullptr);
    else
      arguments.push_back(&addresses.emplace_back(symbols.emplace_back(manifest_.parameters[i].initial).data()));
  }
  void *shared = launch.sharedBytes
                     ? std::aligned_alloc(card::native::sharedAlignment, (launch.sharedBytes + 63) / 64 * 64)
                     : nullptr;
  card::native::Launch native{{launch.grid.x, launch.grid.y, launch.grid.z},
                              {launch.block.x, launch.block.y, launch.block.z},
                              arguments.data(),
                              launch.sharedBytes,
                              order};
  reinterpret_cast<card::native::Entry>(entry_)(&native, 0, launch.grid.count(), shared);
  std::free(shared);
  if (header->unmet)
    return internalError("the machine says: " + manifest_.formats[header->unmet - 1]);
  if (watch_)
    if (auto site = card::LaunchShadow::suspectSite(std::as_bytes(std::span(*shadow))))
      return internalError(fmt::format("it suspects line {}", watch_->sites.at(*site).where.line));
  return {};
}

} // namespace opsight::fuzz
