// Warp operations against what CUDA's programming guide says, computed here lane by lane, on every OpenCL driver: where the
// device has subgroups of 32, through them; a test that expects so says which way the kernel took.
#include "lower/opencl_run.h"
#include <algorithm>
#include <functional>

namespace opsight::lower {
namespace {

class SpirvWarps : public OnOpenCl {
protected:
  bool hasSubgroups() const { return std::ranges::count(session->info().subgroupWidths, 32u) != 0; }

  /// Runs `source`, a kernel that writes `words` ints a thread, and expects `want(thread, word)`. The kernel must go
  /// through subgroups where the device has them if `whole`, else never.
  void expectWords(const std::string &source, card::Dim3 block, int words, bool whole,
                   const std::function<uint32_t(int thread, int word)> &want) {
    auto artifact = lowered({source}, block);
    ASSERT_TRUE(artifact) << describe(artifact.error());
    EXPECT_EQ(artifact->manifest.subgroupWidth, whole && hasSubgroups() ? 32u : 0u);
    int threads = int(block.count());
    auto *out = buffer(std::vector<uint32_t>(size_t(threads) * words, 0xDEAD));
    auto program = session->load(*artifact);
    ASSERT_TRUE(program) << describe(program.error());
    const card::Argument arguments[] = {out};
    auto launched = session->launch(*program, {.block = block}, arguments);
    ASSERT_TRUE(launched) << describe(launched.error());
    ASSERT_EQ(launched->end, card::Launched::End::Done) << launched->detail;
    std::vector<uint32_t> got = contents<uint32_t>(out);
    for (int thread = 0; thread < threads; ++thread)
      for (int word = 0; word < words; ++word)
        ASSERT_EQ(got[size_t(thread) * words + word], want(thread, word)) << "thread " << thread << ", word " << word;
  }
};
INSTANTIATE_TEST_SUITE_P(Drivers, SpirvWarps, everywhere(), whereName);

const std::string number = "int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, l = t % 32; (void)l;";
uint32_t valueOf(int thread) { return uint32_t(thread) * 2654435761u; }

// __shfl*_sync(…, width) in C, for a warp whose lanes all take part.
int shuffled(char kind, int lane, int by, int width) {
  int first = lane / width * width, source = 0;
  switch (kind) {
  case 'i': return first + (by & (width - 1));
  case 'u': source = lane - by; return source < first ? lane : source;
  case 'd': source = lane + by; return source >= first + width ? lane : source;
  default: source = lane ^ by; return source >= first + width ? lane : source;
  }
}

TEST_P(SpirvWarps, EveryShuffleInEveryWidthReadsTheLaneThatCudaSays) {
  std::string kernel = "__global__ void all(unsigned *out) { " + number + " unsigned v = t * 2654435761u; out += t * 40;\n";
  struct Asked {
    char kind;
    int by, width;
  };
  std::vector<Asked> asked;
  const std::pair<char, const char *> kinds[] = {{'i', ""}, {'u', "_up"}, {'d', "_down"}, {'x', "_xor"}};
  for (auto [kind, suffix] : kinds)
    for (int width : {2, 4, 8, 16, 32})
      for (int by : {1, 21}) {
        kernel += "*out++ = __shfl" + std::string(suffix) + "_sync(0xffffffff, v, " + std::to_string(by) + ", " +
                  std::to_string(width) + ");\n";
        asked.push_back({kind, by, width});
      }
  expectWords(kernel + "}", {64, 1, 1}, int(asked.size()), /*whole=*/true, [&](int thread, int word) {
    auto [kind, by, width] = asked[word];
    return valueOf(thread / 32 * 32 + shuffled(kind, thread % 32, by, width));
  });
}

TEST_P(SpirvWarps, AShuffleTakesADifferentLaneForEachThread) {
  expectWords("__global__ void spread(unsigned *out) { " + number +
                  "out[2 * t] = __shfl_sync(0xffffffff, t * 2654435761u, l * 7 + 40);"
                  "out[2 * t + 1] = __shfl_sync(0xffffffff, t * 2654435761u, l * 3, 8); }",
              {96, 1, 1}, 2, /*whole=*/true, [](int thread, int word) {
                int lane = thread % 32, source = word ? lane / 8 * 8 + lane * 3 % 8 : (lane * 7 + 40) % 32;
                return valueOf(thread / 32 * 32 + source);
              });
}

TEST_P(SpirvWarps, HalvesOfAWarpNameThemselvesInOneOperation) {
  expectWords("__global__ void halves(unsigned *out) { " + number + R"(
                 unsigned mask = l < 16 ? 0xffff : 0xffff0000; out += t * 7;
                 out[0] = __ballot_sync(mask, t % 3 == 0);
                 out[1] = __any_sync(mask, l == 20);
                 out[2] = __all_sync(mask, l != 20);
                 out[3] = __reduce_add_sync(mask, (unsigned)l);
                 out[4] = __reduce_max_sync(mask, l - 100);
                 out[5] = __shfl_xor_sync(mask, (unsigned)t, 9, 16);
                 out[6] = __match_any_sync(mask, t / 4); })",
              {64, 1, 1}, 7, /*whole=*/true, [](int thread, int word) -> uint32_t {
                int lane = thread % 32;
                bool low = lane < 16;
                uint32_t mask = low ? 0xffff : 0xffff0000, thirds = 0;
                for (int i = 0; i < 32; ++i)
                  thirds |= uint32_t((thread / 32 * 32 + i) % 3 == 0) << i;
                const uint32_t want[] = {thirds & mask, !low,          low, low ? 120u : 376u, uint32_t(low ? -85 : -69),
                                         uint32_t(thread ^ 9), 0xfu << lane / 4 * 4};
                return want[word];
              });
}

TEST_P(SpirvWarps, EveryReductionOverAWarpAndOverSomeLanes) {
  std::string kernel = "__global__ void reduce(unsigned *out) { " + number +
                       "unsigned v = (t + 1) * 2654435761u, mask = l % 2 ? 0xaaaaaaaa : 0x55555555; out += t * 16;\n";
  for (std::string mask : {"0xffffffff", "mask"})
    for (std::string call : {"add_sync(M, v)", "min_sync(M, (int)v)", "max_sync(M, (int)v)", "min_sync(M, v)",
                             "max_sync(M, v)", "and_sync(M, v | 1024)", "or_sync(M, v & 0xf0f0f0f0)", "xor_sync(M, v)"})
      kernel += "*out++ = __reduce_" + call.replace(call.find('M'), 1, mask) + ";\n";
  expectWords(kernel + "}", {64, 1, 1}, 16, /*whole=*/true, [](int thread, int word) {
    uint32_t result = 0;
    for (int i = 0; i < 32; ++i) {
      if (word >= 8 && i % 2 != thread % 2)
        continue;
      uint32_t v = valueOf(thread / 32 * 32 + i + 1);
      bool first = i == (word >= 8 ? thread % 2 : 0);
      switch (word % 8) {
      case 0: result += v; break;
      case 1: result = first ? v : uint32_t(std::min(int(result), int(v))); break;
      case 2: result = first ? v : uint32_t(std::max(int(result), int(v))); break;
      case 3: result = first ? v : std::min(result, v); break;
      case 4: result = first ? v : std::max(result, v); break;
      case 5: result = first ? v | 1024 : result & (v | 1024); break;
      case 6: result |= v & 0xf0f0f0f0; break;
      default: result ^= v; break;
      }
    }
    return result;
  });
}

// A block of 1, 2 or 3 dimensions: lanes are counted x first, the last warp may lack threads.
struct Shape {
  card::Dim3 block;
  bool whole; // warps lie in rows
};
constexpr Shape shapes[] = {{{64, 1, 1}, true},  {{40, 1, 1}, true},  {{7, 1, 1}, true},   {{64, 3, 1}, true},
                            {{32, 2, 2}, true},  {{16, 4, 1}, false}, {{48, 2, 1}, false}, {{5, 3, 7}, false}};

TEST_P(SpirvWarps, LanesAreCountedXFirstInBlocksOfEveryShapeAndAbsentOnesCountNowhere) {
  std::string kernel = "__global__ void lanes(unsigned *out) { " + number + R"(
      out += t * 7; int n = blockDim.x * blockDim.y * blockDim.z;
      out[0] = __shfl_sync(0xffffffff, t, 0);
      out[1] = __shfl_up_sync(0xffffffff, t, 1);
      out[2] = __ballot_sync(0xffffffff, t % 2);
      out[3] = __activemask();
      out[4] = __all_sync(0xffffffff, t < n);
      out[5] = __reduce_add_sync(0xffffffff, 1u);
      out[6] = __match_any_sync(0xffffffff, t % 4); })";
  for (const Shape &shape : shapes) {
    SCOPED_TRACE(testing::Message() << shape.block.x << "x" << shape.block.y << "x" << shape.block.z);
    int threads = int(shape.block.count());
    expectWords(kernel, shape.block, 7, shape.whole, [&](int thread, int word) -> uint32_t {
      int first = thread / 32 * 32, count = std::min(32, threads - first);
      uint32_t present = count == 32 ? ~0u : (1u << count) - 1;
      const uint32_t want[] = {uint32_t(first),
                               uint32_t(std::max(thread - 1, first)),
                               0xaaaaaaaau & present,
                               present,
                               1u,
                               uint32_t(count),
                               0x11111111u << thread % 4 & present};
      return want[word];
    });
  }
}

TEST_P(SpirvWarps, WarpsThatGoTheirOwnWaysWholeStillUseSubgroups) {
  expectWords("__global__ void rows(unsigned *out) { " + number + R"(
                 int warp = threadIdx.x / 32; unsigned sum = 0;
                 if (warp == 2) return;
                 for (int j = 0; j <= warp; ++j) {
                   unsigned v = l + j;
                   for (int k = 16; k; k >>= 1) v += __shfl_xor_sync(0xffffffff, v, k);
                   sum += v; if (__any_sync(0xffffffff, sum > 2000)) break; }
                 out[t] = sum; })",
              {160, 1, 1}, 1, /*whole=*/true, [](int thread, int) {
                uint32_t sum = 0;
                for (int j = 0; j <= thread / 32 && sum <= 2000; ++j)
                  sum += 496 + 32 * j;
                return thread / 32 == 2 ? 0xDEAD : sum;
              });
}

TEST_P(SpirvWarps, LanesThatPartUseNoSubgroups) {
  expectWords("__global__ void part(unsigned *out) { " + number + R"(
                 unsigned v = t;
                 if (l < 12) { v = __shfl_xor_sync(0xfff, v, 3); v += __popc(__activemask()) * 1000; }
                 else if (l % 2) v = __ballot_sync(0xaaaaa000, t < 20);
                 out[t] = v; })",
              {64, 1, 1}, 1, /*whole=*/false, [](int thread, int) -> uint32_t {
                int lane = thread % 32;
                if (lane < 12)
                  return uint32_t(thread ^ 3) + 12000;
                return lane % 2 ? (thread < 32 ? 0x000aa000 : 0) : uint32_t(thread);
              });
}

TEST_P(SpirvWarps, SharedMemoryIsExchangedAcrossSyncwarpAndBlocksMeetAtBarriers) {
  expectWords("__global__ void both(unsigned *out) { " + number + R"(
                 __shared__ unsigned s[128], sums[4];
                 s[t] = t * t; __syncwarp();
                 unsigned v = s[t ^ 31] + s[(t & ~31) + (l + 1) % 32]; __syncwarp();
                 s[t] = v; __syncwarp(); v += s[t ^ 1];
                 for (int k = 16; k; k >>= 1) v += __shfl_down_sync(0xffffffff, v, k);
                 if (l == 0) sums[t / 32] = v;
                 __syncthreads();
                 out[t] = sums[0] + sums[1] + sums[2] + sums[3]; })",
              {128, 1, 1}, 1, /*whole=*/true, [](int, int) {
                uint32_t sum = 0;
                for (int t = 0; t < 128; ++t)
                  sum += 4 * t * t;
                return sum;
              });
}

TEST_P(SpirvWarps, AShuffleWhoseLanesNeverComeIsNamedAndEnds) {
  auto *out = buffer(std::vector<int>(64, -1));
  card::Launched launched = launch({"__global__ void vain(int *out) {\n"
                                    "  int v = threadIdx.x;\n"
                                    "  if (v >= 40)\n"
                                    "    v = __shfl_xor_sync(0xffffffff, v, 1);\n"
                                    "  else if (v >= 32)\n"
                                    "    v = __shfl_down_sync(0xff, v, 1);\n"
                                    "  out[threadIdx.x] = v; }"},
                                   {.grid = {3, 1, 1}, .block = {64, 1, 1}}, {out});
  // The second shuffle happens, and its lanes return; the first then has all that still live.
  EXPECT_EQ(launched.end, card::Launched::End::Done) << launched.detail;
  launched = launch({"__global__ void vain(int *out) {\n"
                     "  int v = threadIdx.x;\n"
                     "  if (v >= 40)\n"
                     "    v = __shfl_xor_sync(0xffffffff, v, 1);\n"
                     "  __syncthreads();\n"
                     "  out[threadIdx.x] = v; }"},
                    {.grid = {3, 1, 1}, .block = {64, 1, 1}}, {out});
  EXPECT_EQ(launched.end, card::Launched::End::Barrier);
  EXPECT_NE(launched.detail.find(".cu:4: block: ["), std::string::npos) << launched.detail;
  EXPECT_NE(launched.detail.find("waits for lanes of its mask that never come"), std::string::npos) << launched.detail;
}

TEST_P(SpirvWarps, TheManifestSaysWhyADeviceWithSubgroupsDoesNotUseThem) {
  auto artifact = lowered({"__global__ void part(int *out) {\n"
                           "  int v = threadIdx.x;\n"
                           "  if (v % 32 < 16)\n"
                           "    v = __shfl_xor_sync(0xffff, v, 1);\n"
                           "  out[threadIdx.x] = v; }"},
                          {32, 1, 1});
  ASSERT_TRUE(artifact) << describe(artifact.error());
  std::string notes;
  for (const std::string &note : artifact->manifest.notes)
    notes += note + "\n";
  EXPECT_EQ(notes.find("line 4 is not provably reached by whole warps") != std::string::npos, hasSubgroups()) << notes;
}

} // namespace
} // namespace opsight::lower
