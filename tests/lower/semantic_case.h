// A table's row: a kernel and what CUDA says that it gives. Each is compiled by the whole way of the cpu card and run in a
// worker, unoptimised and optimised; a row that asks for it, also in vectors of another width and for older processors, in
// one way of five, so that ./check stays short. OPSIGHT_EVERY_WAY=1 in the environment has every row take every way.
#pragma once
#include "base/file.h"
#include "card/session.h"
#include "lower/native_run.h"
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <span>

namespace opsight::lower {

/// The content of a buffer, of any type of numbers.
struct Values {
  Values() = default;
  template <class T> Values(const std::vector<T> &values)
      : bytes(std::as_bytes(std::span(values)).begin(), std::as_bytes(std::span(values)).end()), size(sizeof(T)), show(&text<T>) {}
  template <class T> static std::string text(const std::byte *at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    if constexpr (std::is_same_v<T, _Float16>)
      return fmt::format("{}", float(value));
    else if constexpr (fmt::is_formattable<T>::value)
      return fmt::format("{}", value);
    return "a structure";
  }
  bool empty() const { return bytes.empty(); }

  std::vector<std::byte> bytes;
  size_t size = 1;
  std::string (*show)(const std::byte *) = &text<unsigned char>;
};

template <class T> Values listed(std::initializer_list<T> values) { return std::vector<T>(values); }
/// What `of` says for 0 … count - 1.
template <class T> Values each(size_t count, const std::function<T(int)> &of) {
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(of(int(i)));
  return values;
}
template <class T> Values all(size_t count, T value) { return std::vector<T>(count, value); }

enum class Ways { Few, More }; // Few: the width that warp_width chooses; native

struct Case {
  const char *name;                   // of the behaviour
  std::string cuda;                   // one kernel: (T *out), (T *out, const U *in), …, then the struct `scalar`
  card::Dim3 block{}, grid{};
  Values expected{};                  // of `out`; empty: there is none
  Values in{}, before{};              // before: what `out` holds at first; zeros unless said
  Values scalar{};                    // by value
  uint64_t shared = 0;                // dynamic, bytes
  uint64_t order = 0;                 // of warps and blocks, see LaunchConfig
  card::Launched::End end = card::Launched::End::Done;
  const char *says = "";              // part of what is printed, or of the detail of another end than Done
  const char *refused = "";           // not empty: part of the words with which it is said to be unsupported
  Ways ways = Ways::Few;
};

inline void PrintTo(const Case &which, std::ostream *to) { *to << which.name; }

struct Way {
  int optimization;
  const char *processor;
  unsigned lanes;
};

inline std::vector<Way> waysOf(const Case &which) {
  std::vector<Way> ways = {{3, "native", 0}, {0, "native", 0}};
  const Way more[] = {{3, "native", 8}, {3, "native", 32}, {0, "native", 16}, {3, "x86-64-v3", 0}, {0, "x86-64-v3", 32}};
  bool all = std::getenv("OPSIGHT_EVERY_WAY");
  for (size_t i = 0; i < std::size(more); ++i)
    if (all || (which.ways == Ways::More && (i + which.cuda.size()) % std::size(more) == 0))
      ways.push_back(more[i]);
  const Way longer[] = {{3, "native", 64}, {0, "native", 128}}; // than a warp, where threads ask theirs for nothing
  for (size_t i = 0; i < std::size(longer); ++i)
    if (all || (which.ways == Ways::More && (i + which.cuda.size()) % 4 == 0))
      ways.push_back(longer[i]);
  return ways;
}

class Semantics : public testing::TestWithParam<Case> {
protected:
  static card::Session &session() {
    static auto opened = card::Session::open("cpu", {.runTimeout = std::chrono::milliseconds(10'000)});
    EXPECT_TRUE(opened) << describe(opened.error());
    return **opened;
  }

  static std::unique_ptr<card::Buffer> bufferOf(const Values &values) {
    auto buffer = session().createBuffer(values.bytes.size());
    EXPECT_TRUE(buffer) << describe(buffer.error());
    std::memcpy((*buffer)->bytes().data(), values.bytes.data(), values.bytes.size());
    return std::move(*buffer);
  }

  static void expectValues(const Values &expected, const std::byte *got) {
    unsigned wrong = 0;
    for (size_t at = 0; at < expected.bytes.size() && wrong < 8; at += expected.size) {
      const std::byte *want = expected.bytes.data() + at;
      std::string wanted = expected.show(want), found = expected.show(got + at);
      bool same = std::memcmp(want, got + at, expected.size) == 0 || (wanted == found && wanted.ends_with("nan"));
      if (!same && ++wrong)
        ADD_FAILURE() << "element " << at / expected.size << " is " << found << ", not " << wanted;
    }
  }

  /// Every way compiles by itself from the module that its level of optimisation gives.
  static void runEveryWay(const Case &which) {
    for (int optimization : {3, 0}) {
      cuda::CompileRequest request;
      request.file = writeSource(which.cuda);
      request.optimization = optimization;
      ::setenv("OPSIGHT_ROOT", OPSIGHT_SOURCE_DIR, 1);
      auto module = cuda::compile(request);
      for (const Way &way : waysOf(which))
        if (way.optimization == optimization) {
          SCOPED_TRACE(fmt::format("-O{}, {}, {} lanes", optimization, way.processor, way.lanes));
          runIn(which, way, module);
        }
    }
  }

  static void runIn(const Case &which, const Way &way, const Result<cuda::Module> &module) {
    Target target;
    target.block = which.block;
    target.lanes = way.lanes;
    target.processor = way.processor;
    auto artifact = module ? toNative(*module, target) : std::unexpected(module.error());
    if (*which.refused) {
      ASSERT_FALSE(artifact) << "is not refused";
      EXPECT_EQ(artifact.error().kind, ErrorKind::Unsupported) << describe(artifact.error());
      EXPECT_NE(artifact.error().what.find(which.refused), std::string::npos) << artifact.error().what;
      return;
    }
    ASSERT_TRUE(artifact) << describe(artifact.error());
    launch(which, *artifact);
  }

  static void launch(const Case &which, const card::Artifact &artifact) {
    auto program = session().load(artifact);
    ASSERT_TRUE(program) << describe(program.error());
    Values start = which.before;
    if (start.empty())
      start.bytes.resize(which.expected.bytes.size());
    std::vector<std::unique_ptr<card::Buffer>> buffers;
    std::vector<card::Argument> arguments;
    if (!which.expected.empty())
      arguments.push_back(buffers.emplace_back(bufferOf(start)).get());
    if (!which.in.empty())
      arguments.push_back(buffers.emplace_back(bufferOf(which.in)).get());
    if (!which.scalar.empty())
      arguments.push_back(which.scalar.bytes);
    auto launched = session().launch(*program, {.grid = which.grid, .block = which.block, .dynamicSharedBytes = which.shared, .order = which.order}, arguments);
    ASSERT_TRUE(launched) << describe(launched.error());
    ASSERT_EQ(launched->end, which.end) << launched->detail;
    const std::string &words = which.end == card::Launched::End::Done ? launched->printed : launched->detail;
    EXPECT_NE(words.find(which.says), std::string::npos) << words;
    if (which.end == card::Launched::End::Done && !which.expected.empty())
      expectValues(which.expected, buffers[0]->bytes().data());
  }
};

/// One test a row: `SEMANTICS(Barriers, rows)` makes Barriers/Barriers.AreCudas/NAME.
#define SEMANTICS(THEME, ROWS)                                                                                         \
  using THEME = Semantics;                                                                                             \
  TEST_P(THEME, AreCudas) { runEveryWay(GetParam()); }                                                                 \
  INSTANTIATE_TEST_SUITE_P(THEME, THEME, testing::ValuesIn(ROWS),                                                      \
                           [](const testing::TestParamInfo<Case> &info) { return std::string(info.param.name); })

} // namespace opsight::lower
