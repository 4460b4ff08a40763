// Inputs are compared with a private copy after each run, not merely hashed, so the report can name the byte.
#include "judge/trial.h"
#include "operator/random.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace opsight::judge {
namespace {

/// Memory from cudaMalloc is aligned to this; kernels may read vectors from its start.
constexpr uint32_t cudaAlignment = 256;

template <class T> std::vector<std::byte> bytesOf(T value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::vector<std::byte> floating(double value, const ops::ParameterView &view) {
  return view.bytes == 8 ? bytesOf(value) : bytesOf(float(value));
}

/// Narrowed to the parameter's width, or nothing where the value does not fit.
std::optional<std::vector<std::byte>> integer(int64_t value, const ops::ParameterView &view) {
  bool isUnsigned = view.type.find("unsigned") != std::string::npos || view.type.find("uint") != std::string::npos ||
                    view.type.find("size_t") != std::string::npos || view.type == "bool";
  unsigned bits = view.bytes * 8;
  if (bits < 64) {
    int64_t high = (int64_t(1) << (isUnsigned ? bits : bits - 1)) - 1, low = isUnsigned ? 0 : -high - 1;
    if (value < low || value > high)
      return std::nullopt;
  }
  auto bytes = bytesOf(value);
  bytes.resize(view.bytes);
  return bytes;
}

/// The bytes that a scalar parameter receives; an error says why it cannot.
Result<std::vector<std::byte>> encode(const ops::Operator &op, const ops::Case &c, const Symbols &symbols,
                                      const ops::Bound &bound, const ops::ParameterView &view) {
  bool isFloat = view.element == ops::ElementType::Float32 || view.element == ops::ElementType::Float64;
  double number = 0;
  int64_t whole = 0;
  switch (bound.kind) {
  case ops::Bound::Kind::Scalar: {
    std::optional<double> value = op.scalarOf(c, bound.text);
    if (!value)
      return internalError("the operator has no scalar '" + bound.text + "'");
    number = *value * bound.value;
    break;
  }
  case ops::Bound::Kind::Float:
    number = bound.value;
    break;
  default: {
    auto value = evaluate(bound.text, symbols);
    if (!value)
      return std::unexpected(value.error());
    number = double(whole = *value);
  }
  }
  if (isFloat)
    return floating(number, view);
  bool fractional = bound.kind == ops::Bound::Kind::Scalar || bound.kind == ops::Bound::Kind::Float;
  if (fractional && number != std::floor(number))
    return userError("parameter '" + view.type + " " + view.name + "' would receive " + std::to_string(number) +
                     ", which is no integer");
  auto bytes = integer(fractional ? int64_t(number) : whole, view);
  if (!bytes)
    return unsupported(view.name + " = " + std::to_string(whole) + " does not fit the parameter's type " + view.type);
  return *bytes;
}

std::vector<std::string> heardBy(const Build &build) {
  std::vector<std::string> heard;
  for (const Step *step : build.steps())
    for (const ops::Bound &bound : step->arguments)
      if (bound.kind == ops::Bound::Kind::Expression)
        if (auto mentioned = symbolsOf(bound.text))
          heard.insert(heard.end(), mentioned->begin(), mentioned->end());
  return heard;
}

const ops::TensorInfo *tensorInfo(const ops::Operator &op, const std::string &name) {
  for (const ops::TensorInfo &info : op.tensors())
    if (info.name == name)
      return &info;
  return nullptr;
}

void put(card::Buffer &buffer, const ops::Tensor &tensor) {
  std::ranges::copy(tensor.bytes, buffer.bytes().begin()); // memcpy may not be given the null of an empty tensor
}

} // namespace

uint32_t poisonWord(uint64_t seed, int run) {
  uint32_t random = uint32_t(ops::mix(seed + uint64_t(run)));
  return run % 2 == 0 ? 0xFFC00001u | (random & 0x003FFFFEu) : 0x7A000000u | (random & 0x007FFFFFu);
}

Result<card::ProgramId> Programs::of(const std::shared_ptr<const card::Artifact> &artifact) {
  if (auto known = loaded.find(artifact); known != loaded.end())
    return known->second;
  auto id = session.load(*artifact);
  if (id)
    loaded[artifact] = *id;
  return id;
}

std::optional<std::string> Trial::outside(const ops::Operator &op, const ops::Case &c, const Build &build) {
  for (const ops::Requirement &requirement : build.requirements)
    if (auto why = ops::broken(requirement, c.symbols))
      return why;
  std::set<std::string> taken;
  for (const Step *step : build.steps())
    for (const ops::Bound &bound : step->arguments) {
      if (bound.kind == ops::Bound::Kind::Scalar)
        taken.insert(bound.text);
      if (bound.onlyWhere)
        if (auto why = ops::broken(*bound.onlyWhere, c.symbols))
          return why;
    }
  for (const auto &[name, value] : c.scalars)
    if (!taken.contains(name))
      return "the kernel takes no " + name + ", and this case has its own";
  return std::nullopt;
}

/// The buffer of `tensor`, made the first time that a step receives it.
Result<const card::Buffer *> Trial::bufferFor(const std::string &tensor, const ops::Presented &seen) {
  if (auto known = buffers.find(tensor); known != buffers.end())
    return known->second.get();
  const ops::TensorInfo *info = tensorInfo(*op, tensor);
  uint64_t bytes = 0;
  if (info->role == ops::TensorInfo::Role::Input) {
    bytes = seen.inputs.at(tensor).bytes.size();
  } else {
    auto shape = ops::extentsOf(*info, c.symbols);
    if (!shape)
      return std::unexpected(shape.error());
    bytes = ops::sizeOf(info->element);
    for (int64_t extent : *shape)
      bytes *= uint64_t(extent);
    if (info->isCompared())
      outputs[tensor] = {info->element, std::move(*shape), {}};
  }
  // A device has no buffer of nothing; an empty tensor gets one word that nobody may touch.
  auto buffer = session->createBuffer(std::max<uint64_t>(bytes, sizeof(float)), cudaAlignment);
  if (!buffer)
    return std::unexpected(buffer.error());
  return (buffers[tensor] = std::move(*buffer)).get();
}

Status Trial::addStep(Programs &programs, const Step &step, const ops::Presented &seen) {
  if (step.arguments.size() != step.parameters.size())
    return internalError("a build has " + std::to_string(step.arguments.size()) + " arguments for " +
                         std::to_string(step.parameters.size()) + " parameters");
  auto program = programs.of(step.artifact);
  if (!program)
    return std::unexpected(program.error());
  Launching launching{step.artifact->manifest.kernel, *program, step.launch};
  for (size_t n = 0; n < step.arguments.size(); ++n) {
    const ops::Bound &bound = step.arguments[n];
    if (bound.kind == ops::Bound::Kind::Tensor) {
      auto buffer = bufferFor(bound.text, seen);
      if (!buffer)
        return std::unexpected(buffer.error());
      launching.arguments.emplace_back(*buffer);
      continue;
    }
    auto bytes = encode(*op, c, seen.symbols, bound, step.parameters[n]);
    if (!bytes)
      return std::unexpected(bytes.error());
    launching.arguments.emplace_back(std::move(*bytes));
  }
  launchings.push_back(std::move(launching));
  return {};
}

Result<Trial> Trial::create(card::Session &session, Programs &programs, const ops::Operator &op, const ops::Case &c,
                            const Build &build, const ops::Problem &problem) {
  Trial trial;
  trial.op = &op, trial.c = c, trial.session = &session;
  trial.heard = heardBy(build);
  ops::Presented seen = op.present(c, problem, trial.heard);
  for (const Step *step : build.steps())
    if (Status added = trial.addStep(programs, *step, seen); !added)
      return std::unexpected(added.error());
  return trial;
}

void Trial::fill(const ops::Problem &problem, uint32_t word) {
  poison = word;
  inputs = op->present(c, problem, heard).inputs;
  for (auto &[name, buffer] : buffers) {
    auto words = buffer->bytes();
    for (size_t n = 0; n + sizeof(word) <= words.size(); n += sizeof(word))
      std::memcpy(&words[n], &word, sizeof(word));
    auto input = inputs.find(name);
    buffer->isInitialised = input != inputs.end();
    if (buffer->isInitialised)
      put(*buffer, input->second);
    buffer->arm();
  }
}

void Trial::replace(const std::string &tensor, const ops::Problem &problem) {
  inputs[tensor] = op->present(c, problem, heard).inputs.at(tensor);
  put(*buffers.at(tensor), inputs[tensor]);
}

void Trial::takeOrder(uint64_t order) {
  for (Launching &launching : launchings)
    launching.config.order = order;
}

Result<card::Launched> Trial::launchStep(size_t number, std::span<card::Observer *const> observers) {
  const Launching &launching = launchings.at(number);
  if (observers.empty())
    return session->launch(launching.program, launching.config, launching.arguments);
  return session->watch(launching.program, launching.config, launching.arguments, observers);
}

Result<card::Launched> Trial::launch(std::span<card::Observer *const> observers) {
  card::Launched all;
  for (size_t n = 0; n < launchings.size(); ++n) {
    auto launched = launchStep(n, observers);
    if (!launched)
      return launched;
    launched->seconds += all.seconds;
    launched->printed = all.printed + launched->printed;
    all = std::move(*launched);
    if (all.end == card::Launched::End::Done)
      continue;
    if (launchings.size() > 1)
      all.detail = "launch " + std::to_string(n + 1) + ", " + launchings[n].kernel + (all.detail.empty() ? "" : ": " + all.detail);
    break;
  }
  return all;
}

Result<card::CheckedLaunch> Trial::check() {
  card::CheckedLaunch all{.isClean = true};
  for (const Launching &launching : launchings) {
    auto checked = session->check(launching.program, launching.config, launching.arguments);
    if (!checked)
      return checked;
    for (auto &[name, buffer] : buffers) // what one step has written the next may read
      buffer->isInitialised |= std::ranges::count(checked->filled, buffer.get()) > 0;
    all = std::move(*checked);
    if (!all.isClean)
      break;
  }
  return all;
}

Trace Trial::collect(card::Launched launched) const {
  Trace trace{.launched = std::move(launched), .outputs = {}, .poison = poison, .modifiedInput = {}, .scribble = {}};
  for (const auto &[name, buffer] : buffers) {
    auto bytes = buffer->bytes();
    if (auto at = buffer->firstScribble(); at && trace.scribble.empty())
      trace.scribble = name + ": byte " +
                       (*at < 0 ? std::to_string(-*at) + " before its start"
                                : std::to_string(*at - int64_t(bytes.size())) + " past its end");
    auto input = inputs.find(name);
    if (auto output = outputs.find(name); output != outputs.end()) {
      if (input != inputs.end())
        trace.filled.insert(name);
      if (trace.launched.end != card::Launched::End::Done)
        continue;
      ops::Tensor &out = trace.outputs[name] = output->second;
      out.bytes.assign(bytes.begin(), bytes.begin() + out.count() * int64_t(ops::sizeOf(out.type)));
    } else if (input != inputs.end() && tensorInfo(*op, name)->role == ops::TensorInfo::Role::Input) {
      const auto &original = input->second.bytes;
      auto differs = std::mismatch(original.begin(), original.end(), bytes.begin());
      if (differs.first != original.end())
        trace.modifiedInput = name + ": byte " + std::to_string(differs.first - original.begin());
    }
  }
  return trace;
}

} // namespace opsight::judge
