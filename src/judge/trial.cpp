// Inputs are compared with a private copy after each run, not merely hashed, so the report can name the byte.
#include "judge/trial.h"
#include "operator/random.h"
#include <algorithm>
#include <cmath>
#include <cstring>

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
  case ops::Bound::Kind::Scale:
    number = op.scaleOf(c) * (bound.value == 0 ? 1 : bound.value);
    break;
  case ops::Bound::Kind::Float:
    number = bound.value;
    break;
  case ops::Bound::Kind::Causal:
    number = double(whole = op.causalOf(c));
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
  bool fractional = bound.kind == ops::Bound::Kind::Scale || bound.kind == ops::Bound::Kind::Float;
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
  for (const ops::Bound &bound : build.arguments)
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
  bool takesScale = false;
  for (size_t n = 0; n < build.arguments.size(); ++n) {
    const ops::Bound &bound = build.arguments[n];
    takesScale |= bound.kind == ops::Bound::Kind::Scale;
    if (bound.onlyWhere)
      if (auto why = ops::broken(*bound.onlyWhere, c.symbols))
        return why;
  }
  if (c.scale && !takesScale)
    return "the kernel takes no scale, and this case has its own";
  return std::nullopt;
}

Result<Trial> Trial::create(card::Session &session, Programs &programs, const ops::Operator &op, const ops::Case &c,
                            const Build &build, const ops::Problem &problem) {
  if (build.arguments.size() != build.parameters.size())
    return internalError("a build has " + std::to_string(build.arguments.size()) + " arguments for " +
                         std::to_string(build.parameters.size()) + " parameters");
  auto program = programs.of(build.artifact);
  if (!program)
    return std::unexpected(program.error());
  Trial trial;
  trial.op = &op, trial.c = c, trial.session = &session, trial.program = *program, trial.config = build.launch;
  trial.heard = heardBy(build);
  ops::Presented seen = op.present(c, problem, trial.heard);
  for (size_t n = 0; n < build.arguments.size(); ++n) {
    const ops::Bound &bound = build.arguments[n];
    if (bound.kind != ops::Bound::Kind::Tensor) {
      auto bytes = encode(op, c, seen.symbols, bound, build.parameters[n]);
      if (!bytes)
        return std::unexpected(bytes.error());
      trial.arguments.emplace_back(std::move(*bytes));
      continue;
    }
    const ops::TensorInfo *info = tensorInfo(op, bound.text);
    uint64_t bytes = 0;
    if (info->role == ops::TensorInfo::Role::Input) {
      bytes = seen.inputs.at(bound.text).bytes.size();
    } else {
      auto &shape = trial.outputShapes[bound.text];
      bytes = sizeof(float);
      for (const std::string &symbol : info->shape) {
        shape.push_back(c.symbols.at(symbol));
        bytes *= uint64_t(shape.back());
      }
    }
    // A device has no buffer of nothing; an empty tensor gets one word that nobody may touch.
    auto buffer = session.createBuffer(std::max<uint64_t>(bytes, sizeof(float)), cudaAlignment);
    if (!buffer)
      return std::unexpected(buffer.error());
    trial.arguments.emplace_back(buffer->get());
    trial.buffers[bound.text] = std::move(*buffer);
  }
  return trial;
}

void Trial::fill(const ops::Problem &problem, uint32_t word) {
  poison = word;
  inputs = op->present(c, problem, heard).inputs;
  for (auto &[name, buffer] : buffers) {
    auto words = buffer->bytes();
    for (size_t n = 0; n + sizeof(word) <= words.size(); n += sizeof(word))
      std::memcpy(&words[n], &word, sizeof(word));
    if (auto input = inputs.find(name); input != inputs.end())
      put(*buffer, input->second);
    buffer->arm();
  }
}

void Trial::replace(const std::string &tensor, const ops::Problem &problem) {
  inputs[tensor] = op->present(c, problem, heard).inputs.at(tensor);
  put(*buffers.at(tensor), inputs[tensor]);
}

Result<card::Launched> Trial::launch() { return session->launch(program, config, arguments); }

Trace Trial::collect(card::Launched launched) const {
  Trace trace{.launched = std::move(launched), .outputs = {}, .poison = poison, .modifiedInput = {}, .scribble = {}};
  for (const auto &[name, buffer] : buffers) {
    auto bytes = buffer->bytes();
    if (auto at = buffer->firstScribble(); at && trace.scribble.empty())
      trace.scribble = name + ": byte " +
                       (*at < 0 ? std::to_string(-*at) + " before its start"
                                : std::to_string(*at - int64_t(bytes.size())) + " past its end");
    if (auto input = inputs.find(name); input != inputs.end()) {
      const auto &original = input->second.bytes;
      auto differs = std::mismatch(original.begin(), original.end(), bytes.begin());
      if (differs.first != original.end())
        trace.modifiedInput = name + ": byte " + std::to_string(differs.first - original.begin());
    } else if (trace.launched.end == card::Launched::End::Done) {
      ops::Tensor &out = trace.outputs[name];
      out.shape = outputShapes.at(name);
      out.bytes.assign(bytes.begin(), bytes.begin() + out.count() * int64_t(sizeof(float)));
    }
  }
  return trace;
}

} // namespace opsight::judge
