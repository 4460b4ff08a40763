// Runs attention on one card in a process of its own, once for every line on standard input, and prints the seconds.
// bench/attention_vs_libraries.py starts one of these beside the peers and takes turns.
//
//   bench-attention-runner opsight|onednn CARD FOLDER B H Hkv L S D Dv CAUSAL
//
// FOLDER holds q.bin, k.bin, v.bin (floats) and receives the output of the first run. A line "peak" measures the
// machine's peak in GFLOP/s instead.
#include "base/file.h"
#include "card/library.h"
#include "card/session.h"
#include "cuda/compile.h"
#include "lower/lower.h"
#include <chrono>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <iostream>

using namespace opsight;

namespace {
struct Shape {
  int64_t B, H, Hkv, L, S, D, Dv, causal;
};

template <class T> std::vector<std::byte> scalar(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

Result<card::Artifact> compileOurs(const std::string &cardName, const Shape &s) {
  auto lanes = lower::nativeLanes();
  if (!lanes)
    return std::unexpected(lanes.error());
  cuda::CompileRequest request;
  request.file = (dataRoot() / "kernels/attention/flash_simd.cu").string();
  request.kernel = "flash_simd<64, 64, 4>";
  request.defines = {{"HEAD_DIM", std::to_string(s.D)},
                     {"VALUE_DIM", std::to_string(s.Dv)},
                     {"LANES", std::to_string(*lanes)}};
  auto module = cuda::compile(request);
  if (!module)
    return std::unexpected(module.error());
  return cardName.starts_with("cpu") ? lower::toNative(*module, {}) : lower::toSpirv(*module, {});
}

class Runner {
public:
  Runner(bool vendor, std::string cardName, std::string folder, Shape shape)
      : vendor_(vendor), card_(std::move(cardName)), folder_(std::move(folder)), s_(shape) {}

  Status open() {
    auto artifact = vendor_ ? Result<card::Artifact>(card::libraryArtifact(*card::librarySignature("scaled_dot_product_attention"))) : compileOurs(card_, s_);
    if (!artifact)
      return std::unexpected(artifact.error());
    auto session = card::Session::open(card_, {});
    if (!session)
      return std::unexpected(session.error());
    session_ = std::move(*session);
    auto program = session_->load(*artifact);
    if (!program)
      return std::unexpected(program.error());
    program_ = *program;
    name_ = vendor_ ? "oneDNN" : session_->info().driver;
    return bind(artifact->manifest);
  }

  const std::string &name() const { return name_; }

  Result<double> run() {
    auto start = std::chrono::steady_clock::now();
    auto launched = session_->launch(program_, config_, arguments_);
    std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (!launched)
      return std::unexpected(launched.error());
    if (launched->end != card::Launched::End::Done)
      return noVerdict(fmt::format("the kernel did not end: {}", launched->detail));
    return spent.count();
  }

  Status save() {
    auto bytes = buffers_["output"]->bytes();
    return writeFile(folder_ + "/" + (vendor_ ? "onednn" : "opsight") + ".out",
                     {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  }
  Result<card::Session::Peak> peak() { return session_->measurePeak(); }

private:
  Status addBuffer(const std::string &name, int64_t count) {
    auto buffer = session_->createBuffer(uint64_t(count) * 4);
    if (!buffer)
      return std::unexpected(buffer.error());
    if (name == "query" || name == "key" || name == "value") {
      auto content = readFile(folder_ + "/" + name[0] + ".bin", 4ull << 30);
      if (!content)
        return std::unexpected(content.error());
      std::memcpy((*buffer)->bytes().data(), content->data(), std::min<size_t>(content->size(), uint64_t(count) * 4));
    }
    arguments_.push_back(buffer->get());
    buffers_[name] = std::move(*buffer);
    return {};
  }

  Status bind(const card::Manifest &manifest) {
    const std::map<std::string, int64_t> counts = {{"query", s_.B * s_.H * s_.L * s_.D},
                                                   {"key", s_.B * s_.Hkv * s_.S * s_.D},
                                                   {"value", s_.B * s_.Hkv * s_.S * s_.Dv},
                                                   {"output", s_.B * s_.H * s_.L * s_.Dv},
                                                   {"lse", s_.B * s_.H * s_.L}};
    const std::map<std::string, int64_t> symbols = {{"B", s_.B}, {"H", s_.H}, {"Hkv", s_.Hkv}, {"L", s_.L}, {"S", s_.S},
                                                    {"D", s_.D}, {"Dv", s_.Dv}, {"causal", s_.causal}};
    for (const card::Parameter &parameter : manifest.parameters) {
      if (auto count = counts.find(parameter.name); count != counts.end()) {
        if (Status added = addBuffer(parameter.name, count->second); !added)
          return added;
      } else if (parameter.name == "scale") {
        arguments_.push_back(scalar(float(1 / std::sqrt(double(s_.D)))));
      } else {
        int64_t value = symbols.at(parameter.name);
        arguments_.push_back(parameter.bytes == 8 ? scalar(value) : scalar(int32_t(value)));
      }
    }
    if (!vendor_)
      config_.grid.x = uint32_t((s_.L + 63) / 64 * s_.H * s_.B);
    return {};
  }

  bool vendor_;
  std::string card_, folder_, name_;
  Shape s_;
  std::unique_ptr<card::Session> session_;
  card::ProgramId program_ = 0;
  card::LaunchConfig config_;
  std::map<std::string, std::unique_ptr<card::Buffer>> buffers_;
  std::vector<card::Argument> arguments_;
};
} // namespace

static int report(const Error &error) {
  fmt::print(stderr, "{}\n", describe(error));
  return exitCode(error.kind);
}

int main(int argc, char **argv) {
  if (argc != 12) {
    fmt::print(stderr, "usage: {} opsight|onednn CARD FOLDER B H Hkv L S D Dv CAUSAL\n", argv[0]);
    return 2;
  }
  int64_t n[8];
  for (int i = 0; i < 8; ++i)
    n[i] = std::atoll(argv[4 + i]);
  Runner runner(std::string_view(argv[1]) == "onednn", argv[2], argv[3], {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]});
  if (Status opened = runner.open(); !opened)
    return report(opened.error());
  if (auto first = runner.run(); !first)
    return report(first.error());
  if (Status saved = runner.save(); !saved)
    return report(saved.error());
  fmt::print("{}\n", runner.name());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "peak") {
      auto peak = runner.peak();
      fmt::print("{}\n", peak ? peak->gflopsFp32 : 0);
    } else {
      auto seconds = runner.run();
      if (!seconds)
        return report(seconds.error());
      fmt::print("{:.9f}\n", *seconds);
    }
    std::fflush(stdout);
  }
  return 0;
}
