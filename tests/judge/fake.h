// A session whose kernels are C++ functions of the test, so that the judge meets liars without any device.
#pragma once
#include "card/launch_limits.h"
#include "judge/judge.h"
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

namespace opsight::fake {

/// What an attention kernel receives; `call` counts the launches of this program from 1.
struct Attention {
  float *q, *k, *v, *o, *lse;
  const uint8_t *mask; // dense (B,H,L,S); null without
  int64_t B, H, Hkv, L, S, D, Dv;
  int causal;
  float scale;
  int call = 0;

  int64_t rows() const { return B * H * L; }
  bool sees(int64_t row, int64_t j) const {
    int64_t i = row % L;
    int64_t visible = causal == 1 ? i + 1 : causal == 2 ? i + 1 + S - L : S;
    return j < visible && (!mask || mask[row * S + j]);
  }
  const float *key(int64_t row, int64_t j) const { return k + (kv(row) * S + j) * D; }
  const float *value(int64_t row, int64_t j) const { return v + (kv(row) * S + j) * Dv; }
  int64_t kv(int64_t row) const {
    int64_t bh = row / L;
    return bh / H * Hkv + bh % H / (H / Hkv);
  }
  float score(int64_t row, int64_t j) const {
    float sum = 0;
    for (int64_t d = 0; d < D; ++d)
      sum += q[row * D + d] * key(row, j)[d];
    return sum * scale;
  }
};

/// A right kernel: one row at a time, online softmax in tiles of 32.
inline void rightRow(const Attention &a, int64_t row) {
  constexpr float none = -std::numeric_limits<float>::infinity();
  float maximum = none, sum = 0;
  std::vector<float> acc(a.Dv, 0.0f), score(32);
  for (int64_t tile = 0; tile < a.S; tile += 32) {
    int64_t end = std::min(a.S, tile + 32);
    float larger = maximum;
    for (int64_t j = tile; j < end; ++j)
      larger = std::max(larger, score[j - tile] = a.sees(row, j) ? a.score(row, j) : none);
    if (larger == none)
      continue;
    float rescale = std::exp(maximum - larger);
    sum *= rescale;
    for (float &x : acc)
      x *= rescale;
    for (int64_t j = tile; j < end; ++j) {
      float p = std::exp(score[j - tile] - larger);
      sum += p;
      for (int64_t d = 0; d < a.Dv; ++d)
        acc[d] += p * a.value(row, j)[d];
    }
    maximum = larger;
  }
  for (int64_t d = 0; d < a.Dv; ++d)
    a.o[row * a.Dv + d] = sum > 0 ? acc[d] / sum : 0;
  if (a.lse)
    a.lse[row] = sum > 0 ? maximum + std::log(sum) : none;
}
inline void right(const Attention &a) {
  for (int64_t row = 0; row < a.rows(); ++row)
    rightRow(a, row);
}

using Kernel = std::function<card::Launched(Attention &)>;
inline Kernel kernel(std::function<void(Attention &)> body) {
  return [body](Attention &a) {
    auto start = std::chrono::steady_clock::now();
    body(a);
    card::Launched launched;
    launched.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return launched;
  };
}

class Buffer final : public card::Buffer {
public:
  static constexpr size_t guard = 64;
  static constexpr std::byte sentinel{0xA5};
  Buffer(uint64_t size, uint32_t id) : storage(size + 2 * guard, std::byte{0xFF}), size(size), number(id) { arm(); }
  std::span<std::byte> bytes() override { return {storage.data() + guard, size}; }
  void arm() override {
    std::fill_n(storage.begin(), guard, sentinel);
    std::fill_n(storage.end() - guard, guard, sentinel);
  }
  std::optional<int64_t> firstScribble() const override {
    for (size_t n = 0; n < guard; ++n)
      if (storage[n] != sentinel)
        return int64_t(n) - int64_t(guard);
    for (size_t n = guard + size; n < storage.size(); ++n)
      if (storage[n] != sentinel)
        return int64_t(n - guard);
    return std::nullopt;
  }
  uint32_t id() const override { return number; }

private:
  std::vector<std::byte> storage;
  uint64_t size;
  uint32_t number;
};

class Session final : public card::Session {
public:
  Session() {
    device.card = "fake";
    device.maxBlock = {1024, 1024, 64}, device.maxGrid = {(1ull << 31) - 1, 65535, 65535};
    device.maxThreadsPerBlock = 1024, device.sharedBytes = 48 << 10;
  }
  const card::DeviceInfo &info() const override { return device; }
  Result<card::ProgramId> load(const card::Artifact &artifact) override {
    programs.push_back(artifact.manifest.entry);
    return card::ProgramId(programs.size() - 1);
  }
  Result<std::unique_ptr<card::Buffer>> createBuffer(uint64_t bytes, uint32_t) override {
    return std::make_unique<Buffer>(bytes, ++buffers);
  }
  Result<card::Launched> launch(card::ProgramId program, const card::LaunchConfig &config,
                                std::span<const card::Argument> arguments) override {
    if (std::string over = card::overLimit({}, config, device); !over.empty())
      return card::Launched{.end = card::Launched::End::Refused, .detail = over};
    Attention a{};
    a.call = ++calls[program];
    size_t at = 0;
    auto pointer = [&] {
      auto *buffer = const_cast<card::Buffer *>(std::get<const card::Buffer *>(arguments[at++]));
      return reinterpret_cast<float *>(buffer->bytes().data());
    };
    a.q = pointer(), a.k = pointer(), a.v = pointer(), a.o = pointer(), a.lse = pointer();
    if (std::holds_alternative<const card::Buffer *>(arguments[at]))
      a.mask = reinterpret_cast<const uint8_t *>(pointer());
    for (int64_t *size : {&a.B, &a.H, &a.Hkv, &a.L, &a.S, &a.D, &a.Dv})
      std::memcpy(size, std::get<1>(arguments[at++]).data(), sizeof(int64_t));
    std::memcpy(&a.causal, std::get<1>(arguments[at++]).data(), sizeof(int));
    std::memcpy(&a.scale, std::get<1>(arguments[at++]).data(), sizeof(float));
    ++launches;
    return kernels.at(programs.at(program))(a);
  }
  Result<Peak> measurePeak() override { return peak; }
  std::optional<double> processorSeconds() const override { return processor ? std::optional(processor()) : std::nullopt; }

  std::map<std::string, Kernel> kernels;
  Peak peak{1000, 1000};
  std::function<double()> processor; // seconds that the worker says it has used
  int launches = 0;
  card::DeviceInfo device;

private:
  std::vector<std::string> programs;
  std::map<card::ProgramId, int> calls;
  uint32_t buffers = 0;
};

class Candidate final : public judge::Candidate {
public:
  Candidate(std::string kernel, bool masked = false, std::string proposedBy = "faithful")
      : kernelName(std::move(kernel)), proposedBy(std::move(proposedBy)) {
    auto made = std::make_shared<card::Artifact>();
    made->manifest.entry = kernelName;
    auto add = [&](const char *name, ops::Bound::Kind kind, ops::ElementType type, bool pointer) {
      uint32_t bytes = pointer ? 8 : uint32_t(ops::sizeOf(type));
      build.arguments.push_back({kind, name});
      build.parameters.push_back({name, pointer, false, type, bytes, std::string(ops::nameOf(type))});
    };
    for (const char *name : {"query", "key", "value", "output", "lse"})
      add(name, ops::Bound::Kind::Tensor, ops::ElementType::Float32, true);
    if (masked)
      add("mask", ops::Bound::Kind::Tensor, ops::ElementType::UInt8, true);
    for (const char *name : {"B", "H", "Hkv", "L", "S", "D", "Dv"})
      add(name, ops::Bound::Kind::Expression, ops::ElementType::Int64, false);
    add("causal", ops::Bound::Kind::Scalar, ops::ElementType::Int32, false);
    add("scale", ops::Bound::Kind::Scalar, ops::ElementType::Float32, false);
    made->manifest.usesFloatAtomics = false;
    artifact = made;
    build.artifact = made;
  }
  std::string name() const override { return kernelName; }
  std::string proposer() const override { return proposedBy; }
  Result<std::variant<judge::Build, judge::OutsideLimits>> prepare(const ops::Case &c) override {
    if (limits)
      if (std::string why = limits(c); !why.empty())
        return judge::OutsideLimits{why};
    if (gridOf)
      build.launch.grid = gridOf(c);
    return build;
  }

  judge::Build build;
  std::shared_ptr<card::Artifact> artifact;
  std::function<std::string(const ops::Case &)> limits;
  std::function<card::Dim3(const ops::Case &)> gridOf;

private:
  std::string kernelName, proposedBy;
};

} // namespace opsight::fake
