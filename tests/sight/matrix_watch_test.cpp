// Faults around inline PTX that copies into shared memory and loads matrices from it.
#include "sight/watch_run.h"

namespace opsight::sight {

using testing::AllOf, testing::Contains, testing::HasSubstr, testing::IsEmpty;
using Matrices = Watched;

/// Two warps fill 16 rows of 16 bytes by cp.async and load them as matrices; in line 8 stands what is between.
std::string copiesAndLoads(const std::string &between, const std::string &row) {
  return R"(__global__ void k(int *out, const int *in, int n) {
  __shared__ int4 tile[32];
  int t = threadIdx.x, lane = t % 32; unsigned r[4];
  unsigned s = (unsigned)__cvta_generic_to_shared(tile);
  if (t >= 32)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(s + lane * 16), "l"(in + lane % 16 * 4));
  asm volatile("cp.async.wait_all;");
  )" + between + R"(
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(s + )" + row + R"());
  out[t] = r[0] + r[1] + r[2] + r[3];
})";
}
constexpr card::Dim3 twoWarps{64, 1, 1};

TEST_F(Matrices, CopiedBeforeABarrierAreLoadedWithoutFault) {
  run({.cuda = copiesAndLoads("__syncthreads();", "lane * 16"), .block = twoWarps});
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Matrices, LoadedWithoutABarrierAreRaces) {
  run({.cuda = copiesAndLoads("", "lane * 16"), .block = twoWarps});
  EXPECT_THAT(faults(), Contains(AllOf(HasSubstr("race:"), HasSubstr("tile"))));
}

TEST_F(Matrices, RowsBehindTheArrayAreOutOfBounds) {
  run({.cuda = copiesAndLoads("__syncthreads();", "lane * 16 + 16"), .block = twoWarps});
  EXPECT_THAT(faults(), Contains(HasSubstr("out_of_bounds:9")));
}

TEST_F(Matrices, AddressesOfLanesThatDoNotCountAreNotAccessed) {
  run({.cuda = R"(__global__ void k(int *out, int n) {
  __shared__ int4 tile[8]; int t = threadIdx.x; unsigned r;
  if (t < 8) tile[t] = make_int4(t, t, t, t);
  __syncwarp();
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"((unsigned)__cvta_generic_to_shared(tile) + t * 16));
  out[t] = r;
})"});
  EXPECT_THAT(faults(), IsEmpty());
}

} // namespace opsight::sight
