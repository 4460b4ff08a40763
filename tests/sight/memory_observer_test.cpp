// Faults of memory planted in small kernels: each is found at its line, by its name; the kernels beside them raise
// nothing.
#include "sight/watch_run.h"

namespace opsight::sight {

using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::AllOf;
using MemoryFaults = Watched;

TEST_F(MemoryFaults, ReadPastTheEndOfABuffer) {
  run({.cuda = R"(__global__ void k(float *out, const float *in, int n) {
  int i = threadIdx.x;
  out[i] = in[i + 40];
})"});
  EXPECT_THAT(faults(),
              ElementsAre(AllOf(HasSubstr("out_of_bounds:3"),
                                HasSubstr("reads 4 bytes at in[64], 0 bytes behind the end of in of 256 bytes"),
                                HasSubstr("thread (24,0,0) of block (0,0,0)"))));
  EXPECT_THAT(counts(), ElementsAre(8));
}

TEST_F(MemoryFaults, AccessWithinABufferRaisesNothing) {
  run({.cuda = R"(__global__ void k(float *out, const float *in, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) out[i] = in[n - 1 - i];
})",
       .grid = {3, 1, 1}});
  EXPECT_THAT(faults(), IsEmpty());
  EXPECT_EQ(launched.end, card::Launched::End::Done);
}

TEST_F(MemoryFaults, WriteBeforeTheStartOfABuffer) {
  run({.cuda = R"(__global__ void k(float *out, int n) {
  float *row = out + threadIdx.x;
  row[-4] = 1;
})"});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("out_of_bounds:3"),
                                          HasSubstr("writes 4 bytes at out[-4], 16 bytes before the start"))));
}

TEST_F(MemoryFaults, ReadThatLandsInAnotherBufferIsStillOutOfBounds) {
  run({.cuda = R"(__global__ void k(float *out, const float *a, const float *b, int n) {
  long apart = b - a;
  out[threadIdx.x] = a[apart + threadIdx.x];
})"});
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("out_of_bounds:3")));
}

TEST_F(MemoryFaults, ReadPastTheEndOfASharedArray) {
  run({.cuda = R"(__global__ void k(float *out, int n) {
  __shared__ float tile[32], other[32];
  tile[threadIdx.x] = 1; other[threadIdx.x] = 2;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x + 1] + other[threadIdx.x];
})"});
  EXPECT_THAT(faults(), testing::Contains(AllOf(HasSubstr("out_of_bounds:5"),
                                                HasSubstr("tile[32], 0 bytes behind the end of tile of 128 bytes"))));
}

TEST_F(MemoryFaults, WritePastTheEndOfDynamicSharedMemory) {
  run({.cuda = R"(extern __shared__ float pool[];
__global__ void k(float *out, int n) {
  pool[threadIdx.x * 2] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = pool[threadIdx.x & ~1];
})",
       .shared = 128});
  EXPECT_THAT(faults(), testing::Contains(AllOf(HasSubstr("out_of_bounds:3"), HasSubstr("pool[32]"))));
}

TEST_F(MemoryFaults, ReadPastTheEndOfALocalArray) {
  run({.cuda = R"(__global__ void k(float *out, const int *at, int n) {
  float tap[8];
  for (int i = 0; i < 8; ++i) tap[i] = i * n;
  out[threadIdx.x] = tap[at[threadIdx.x] + threadIdx.x];
})"});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("out_of_bounds:4"), HasSubstr("[8], 0 bytes behind the end"))));
}

TEST_F(MemoryFaults, VectorAtAnAddressThatIsNoMultipleOfIt) {
  run({.cuda = R"(__global__ void k(float *out, const float *in, int n) {
  float4 four = *(const float4 *)(in + threadIdx.x);
  out[threadIdx.x] = four.x + four.y * four.z + four.w;
})"});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("misaligned:2"), HasSubstr("thread (1,0,0)"),
                                          HasSubstr("no multiple of 16"))));
}

TEST_F(MemoryFaults, VectorsInARowRaiseNothing) {
  run({.cuda = R"(__global__ void k(float4 *out, const float4 *in, int n) {
  if (threadIdx.x < n / 4) out[threadIdx.x] = in[threadIdx.x];
})"});
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(MemoryFaults, SharedMemoryThatNobodyHasWritten) {
  run({.cuda = R"(__global__ void k(float *out, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
})"});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("uninitialised:5"), HasSubstr("tile[63]"))));
}

TEST_F(MemoryFaults, SharedMemoryOfTheBlockBeforeIsNobodys) {
  run({.cuda = R"(__global__ void k(float *out, int n) {
  __shared__ float tile[32];
  if (blockIdx.x == 0) tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x + 32 * blockIdx.x] = tile[threadIdx.x];
})",
       .grid = {2, 1, 1}});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("uninitialised:5"), HasSubstr("block (1,0,0)"))));
}

TEST_F(MemoryFaults, OutputThatIsReadBeforeItIsWritten) {
  run({.cuda = R"(__global__ void k(float *out, int n) {
  out[threadIdx.x] += 1;
  out[threadIdx.x + 32] = out[threadIdx.x];
})",
       .initialised = false});
  EXPECT_THAT(faults(),
              ElementsAre(AllOf(HasSubstr("uninitialised:2"), HasSubstr("out[0], which nobody has written"))));
}

TEST_F(MemoryFaults, AnOverrunIsToldThoughItEndsTheKernel) {
  run({.cuda = R"(__global__ void k(float *out, int n) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
})",
       .block = {48, 1, 1},
       .grid = {2, 1, 1}});
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("out_of_bounds:2 thread (16,0,0) of block (1,0,0)")));
  EXPECT_EQ(launched.end, card::Launched::End::Crash);
}

} // namespace opsight::sight
