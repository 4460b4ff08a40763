// Facts about a kernel, each with the line it comes from.
#include "compiled.h"
#include <gmock/gmock.h>

namespace opsight::testing {
namespace {
using cuda::Fact;

std::vector<Fact> of(const cuda::Module &module, Fact::Kind kind) {
  std::vector<Fact> found;
  for (const Fact &fact : module.kernel.facts.all)
    if (fact.kind == kind)
      found.push_back(fact);
  return found;
}

const char *source = R"(
__device__ float total(float v) {
#pragma unroll
  for (int d = 16; d > 0; d -= 4) v += __shfl_xor_sync(~0u, v, d);
  return v;
}
template <int T>
__global__ void __launch_bounds__(T * 2, 3) k(const float *q, float *o, int n) {
  __shared__ float tile[T][T + 1];
  extern __shared__ int more[];
  for (int i = 0; i < T; ++i)
    tile[threadIdx.x][i] = q[i];
  __syncthreads();
  more[0] = n;
#pragma unroll 1
  while (n > 0) n -= 2;
  float v = total(tile[n][0]);
  atomicAdd(o, v);
  assert(v > 0);
  printf("%f\n", v);
}
)";

TEST(Facts, name_lines_bounds_and_shared_memory) {
  cuda::Module module = compiledOk(source, "k<32>");
  const cuda::Facts &facts = module.kernel.facts;
  EXPECT_EQ(facts.where.line, 8u);
  EXPECT_EQ(facts.maxThreadsPerBlock, 64u);
  EXPECT_EQ(facts.minBlocksPerSm, 3u);
  EXPECT_EQ(facts.staticSharedBytes, 32u * 33u * 4u);
  EXPECT_TRUE(facts.usesDynamicShared);
  auto arrays = of(module, Fact::Kind::SharedArray);
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays[0].what, "float tile[32][33]");
  EXPECT_EQ(arrays[0].bytes, 4224u);
  EXPECT_EQ(arrays[0].where.line, 9u);
}

TEST(Facts, barriers_warps_atomics_and_speech_through_device_functions) {
  cuda::Module module = compiledOk(source, "k<32>");
  auto barriers = of(module, Fact::Kind::Barrier);
  ASSERT_EQ(barriers.size(), 1u);
  EXPECT_EQ(barriers[0].what, "__syncthreads");
  EXPECT_EQ(barriers[0].where.line, 13u);
  auto warps = of(module, Fact::Kind::WarpOperation);
  ASSERT_EQ(warps.size(), 1u);
  EXPECT_EQ(warps[0].what, "__shfl_xor_sync");
  EXPECT_EQ(warps[0].where.line, 4u);
  auto atomics = of(module, Fact::Kind::Atomic);
  ASSERT_EQ(atomics.size(), 1u);
  EXPECT_EQ(atomics[0].what, "atomicAdd float");
  EXPECT_EQ(atomics[0].where.line, 18u);
  EXPECT_EQ(of(module, Fact::Kind::Assert).at(0).where.line, 19u);
  EXPECT_EQ(of(module, Fact::Kind::Printf).at(0).where.line, 20u);
}

TEST(Facts, loops_with_their_trips_and_pragmas) {
  auto loops = of(compiledOk(source, "k<32>"), Fact::Kind::Loop);
  ASSERT_EQ(loops.size(), 3u);
  std::map<unsigned, Fact> byLine;
  for (const Fact &loop : loops)
    byLine[loop.where.line] = loop;
  EXPECT_EQ(byLine.at(4).trips, 4);
  EXPECT_TRUE(byLine.at(4).unrolled);
  EXPECT_EQ(byLine.at(11).trips, 32);
  EXPECT_FALSE(byLine.at(11).unrolled);
  EXPECT_EQ(byLine.at(16).trips, -1);
  EXPECT_FALSE(byLine.at(16).unrolled) << "#pragma unroll 1 forbids it";
}

TEST(Facts, accesses_by_address_space_and_width) {
  cuda::Module module = compiledOk(R"(
__constant__ int c[8];
__global__ void k(float4 *p, int i) {
  __shared__ double s[64];
  s[threadIdx.x] = c[i];
  __syncthreads();
  p[i].x = s[i];
})");
  auto loads = of(module, Fact::Kind::Load), stores = of(module, Fact::Kind::Store);
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_EQ(loads[0].space, "constant");
  EXPECT_EQ(loads[0].bytes, 4u);
  EXPECT_EQ(loads[1].space, "shared");
  EXPECT_EQ(loads[1].bytes, 8u);
  ASSERT_EQ(stores.size(), 2u);
  EXPECT_EQ(stores[0].space, "shared");
  EXPECT_EQ(stores[1].space, "global");
  EXPECT_EQ(stores[1].where.line, 7u);
}

TEST(Facts, a_users_own_function_called_atomic_is_none) {
  EXPECT_TRUE(of(compiledOk("__device__ int atomicThing(int x) { return x; }\n"
                            "__global__ void k(int *p) { p[0] = atomicThing(p[1]); }"),
                 Fact::Kind::Atomic)
                  .empty());
}
} // namespace
} // namespace opsight::testing
