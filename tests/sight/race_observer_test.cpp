// Races planted in small kernels, and what orders accesses in the kernels beside them.
#include "sight/watch_run.h"

namespace opsight::sight {

using testing::AllOf, testing::ElementsAre, testing::HasSubstr, testing::IsEmpty;
using Races = Watched;

constexpr card::Dim3 twoWarps{64, 1, 1};

TEST_F(Races, MissingBarrierBetweenAWriteAndARead) {
  run({.cuda = R"(__global__ void k(float *out, const float *in, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = tile[63 - threadIdx.x];
})",
       .block = twoWarps});
  EXPECT_THAT(faults(),
              testing::Contains(AllOf(HasSubstr("race:4"), HasSubstr("reads tile[31] here"), HasSubstr("writes it at"),
                                      HasSubstr(":3, and no barrier is between"))));
}

TEST_F(Races, BarrierBetweenAWriteAndARead) {
  run({.cuda = R"(__global__ void k(float *out, const float *in, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
})",
       .block = twoWarps});
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Races, MissingBarrierBeforeTheNextRoundsWrite) {
  run({.cuda = R"(__global__ void k(float *out, const float *in, int n) {
  __shared__ float tile[64];
  float sum = 0;
  for (int i = 0; i < 3; ++i) {
    tile[threadIdx.x] = in[threadIdx.x] + i;
    __syncthreads();
    sum += tile[63 - threadIdx.x];
  }
  out[threadIdx.x] = sum;
})",
       .block = twoWarps});
  EXPECT_THAT(faults(),
              testing::UnorderedElementsAre(
                  AllOf(HasSubstr("race:5"), HasSubstr("writes tile["), HasSubstr("reads it at"), HasSubstr(":7")),
                  AllOf(HasSubstr("race:7"), HasSubstr("reads tile["), HasSubstr("writes it at"), HasSubstr(":5"))));
}

TEST_F(Races, ThreadsOfOneWarpWithoutSyncwarp) {
  run({.cuda = R"(__global__ void k(float *out, const float *in, int n) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = tile[31 - threadIdx.x];
})"});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("race:4"), HasSubstr("no __syncwarp() or barrier is between"))));
}

TEST_F(Races, SyncwarpOrdersAWarp) {
  run({.cuda = R"(__global__ void k(float *out, const float *in, int n) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = tile[31 - threadIdx.x];
})"});
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Races, SyncwarpOfHalfAWarpOrdersThatHalf) {
  const char *source = R"(__global__ void k(float *out, const float *in, int n) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000);
  out[threadIdx.x] = tile[(threadIdx.x + n / 64) % %];
})";
  std::string within = source, across = source;
  within.replace(within.find("% %"), 3, "^ 15");
  across.replace(across.find("% %"), 3, "% 32");
  within.replace(within.find("(threadIdx.x + n / 64)"), 22, "threadIdx.x");
  run({.cuda = within, .isBeyondChecks = true}); // they know whole warps that meet
  EXPECT_THAT(faults(), IsEmpty());
  run({.cuda = across});
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("race:5")));
}

TEST_F(Races, VolatileWithinAWarpIsAsOldProgramsMeantIt) {
  run({.cuda = R"(__global__ void k(float *out, const float *in, int n) {
  volatile __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x]; tile[threadIdx.x + 32] = 0;
  tile[threadIdx.x] += tile[threadIdx.x + 16];
  tile[threadIdx.x] += tile[threadIdx.x + 8];
  out[threadIdx.x] = tile[threadIdx.x];
})",
       .isBeyondChecks = true});
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Races, AllWriteTheSameIsBenign) {
  run({.cuda = R"(__global__ void k(int *out, const int *in, int n) {
  if (in[threadIdx.x] == 0) out[0] = 7;
})",
       .block = twoWarps,
       .grid = {2, 1, 1}});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("benign race:2"), HasSubstr("both write the same value"))));
}

TEST_F(Races, TwoThreadsWriteDifferentValues) {
  run({.cuda = R"(__global__ void k(int *out, int n) {
  out[threadIdx.x / 2] = threadIdx.x;
})"});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("race:2"), HasSubstr("writes out[0] here"))));
}

TEST_F(Races, AtomicsDoNotRaceWithEachOther) {
  run({.cuda = R"(__global__ void k(int *out, const int *in, int n) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[threadIdx.x % 8], 1);
  atomicAdd(out, 1);
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
})",
       .block = twoWarps,
       .grid = {3, 1, 1}});
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Races, AnAtomicAndAPlainReadDoRace) {
  run({.cuda = R"(__global__ void k(int *out, int n) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  out[threadIdx.x] = count;
})",
       .block = twoWarps});
  EXPECT_THAT(faults(), testing::Contains(HasSubstr("race:5")));
}

TEST_F(Races, TheFirstGuessOfACompareAndSwapIsNoRace) { // as CUDA's guide writes an atomicAdd() of doubles
  run({.cuda = R"(__global__ void k(int *out, int n) {
  float *sum = (float *)out;
  unsigned *word = (unsigned *)sum, old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __float_as_uint(__uint_as_float(assumed) + 1));
  } while (assumed != old);
})",
       .block = twoWarps,
       .grid = {2, 1, 1}});
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Races, AGuessReadInTwoHalvesIsNoRace) {
  run({.cuda = R"(__global__ void k(int *out, int n) {
  const unsigned short *halves = (const unsigned short *)out;
  unsigned short low = halves[0], high = halves[1];
  unsigned seen = low | unsigned(high) << 16, before;
  while ((before = atomicCAS((unsigned *)out, seen, seen + 1)) != seen) seen = before;
})",
       .block = twoWarps,
       .grid = {2, 1, 1}});
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Races, ACompareAndSwapDoesRaceWithAPlainReadOfItsWord) {
  run({.cuda = R"(__global__ void k(int *out, int n) {
  unsigned *word = (unsigned *)((unsigned long long)(out + 1) & ~3ull);
  atomicCAS(word, 0u, threadIdx.x);
  out[64 + threadIdx.x] = *word;
})",
       .block = twoWarps});
  EXPECT_THAT(faults(), testing::Contains(AllOf(HasSubstr("race:4"), HasSubstr("out[1]"))));
}

TEST_F(Races, BlocksThatWriteOnePlace) {
  run({.cuda = R"(__global__ void k(int *out, int n) {
  out[threadIdx.x] = blockIdx.x;
})",
       .grid = {2, 1, 1}});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("race:2"), HasSubstr("nothing orders the blocks"))));
}

TEST_F(Races, BlockThatReadsWhatAnotherWrote) {
  run({.cuda = R"(__global__ void k(int *out, int n) {
  out[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;
  if (blockIdx.x == 1) out[32 + threadIdx.x] += out[threadIdx.x];
})",
       .grid = {2, 1, 1}});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("race:3"), HasSubstr("reads out[0]"))));
}

// The last block to take a ticket adds what all have left: fence, then atomic, orders them.
constexpr const char *tickets = R"(__global__ void k(int *out, int *ticket, int n) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    out[blockIdx.x] = blockIdx.x;
    FENCE
    last = atomicAdd(ticket, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0)
    for (int i = 0; i < gridDim.x; ++i) out[32] += out[i];
})";

TEST_F(Races, FenceAndTicketOrderBlocks) {
  std::string source = tickets;
  source.replace(source.find("FENCE"), 5, "__threadfence();");
  run({.cuda = source, .grid = {4, 1, 1}, .isBeyondChecks = true});
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Races, ATicketWithoutAFenceOrdersNothing) {
  std::string source = tickets;
  source.replace(source.find("FENCE"), 5, "");
  run({.cuda = source, .grid = {4, 1, 1}});
  EXPECT_THAT(faults(), testing::Contains(AllOf(HasSubstr("race:"), HasSubstr("nothing orders the blocks"))));
}

TEST_F(Races, BytesOfOneWordAreTheirOwnPlaces) {
  run({.cuda = R"(__global__ void k(char *out, int n) {
  __shared__ char text[64];
  text[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = text[63 - threadIdx.x];
})",
       .block = twoWarps});
  EXPECT_THAT(faults(), IsEmpty());
}

} // namespace opsight::sight
