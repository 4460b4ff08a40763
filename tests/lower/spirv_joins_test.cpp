// Barriers that a block may pass by, on real OpenCL drivers: ways with and without barriers join in many shapes, and every
// shape must give what CUDA gives, whichever way is taken.
#include "lower/opencl_run.h"

namespace opsight::lower {
namespace {

class SpirvJoins : public OnOpenCl {
protected:
  /// Runs `body` in blocks of 32 threads over 40 rows and wants `want(row, n)` for each n, −1 behind the last row.
  template <class Want> void check(const std::string &body, const std::vector<int> &counts, Want want) {
    const int rows = 40;
    Text text{"__global__ void k(const float *in, float *out, int rows, int n) {\n"
              "  __shared__ float s[32]; const int t = threadIdx.x, row = blockIdx.x * 32 + t;\n" + body + "}\n"};
    std::vector<float> values(64);
    for (int i = 0; i < 64; ++i)
      values[i] = float(i + 1);
    auto artifact = lowered(text, {32, 1, 1});
    ASSERT_TRUE(artifact) << describe(artifact.error());
    auto program = session->load(*artifact);
    ASSERT_TRUE(program) << describe(program.error());
    for (int n : counts) {
      auto *in = buffer(values), *out = buffer(std::vector<float>(2 * rows, -1.0f));
      std::vector<card::Argument> arguments{in, out, scalar(rows), scalar(n)};
      auto launched = session->launch(*program, {.grid = {2, 1, 1}, .block = {32, 1, 1}}, arguments);
      ASSERT_TRUE(launched) << describe(launched.error());
      ASSERT_EQ(launched->end, card::Launched::End::Done) << launched->detail << " n = " << n;
      std::vector<float> got = contents<float>(out);
      for (int i = 0; i < 2 * rows; ++i)
        ASSERT_EQ(got[i], i / 2 < rows ? want(i / 2, n, i % 2) : -1.0f) << "element " << i << " n = " << n;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Drivers, SpirvJoins, everywhere(), whereName);

// The sum of n values as the kernels below make it: n at most 64, values 1, 2, 3 …
float sumOf(int n) { return float(n * (n + 1) / 2); }

TEST_P(SpirvJoins, TiledLoopThatMayNotRunBeforeGuardedStores) {
  check(R"(float sum = 0, acc[2] = {};
           for (int first = 0; first < n; first += 32) {
             s[t] = first + t < n ? in[first + t] : 0; __syncthreads();
             for (int j = 0; j < min(32, n - first); ++j) { sum += s[j]; acc[0] += s[j] * row; acc[1] += s[j] * 2; }
             __syncthreads(); }
           out += row * 2;
           for (int e = 0; e < 2; ++e) if (row < rows) out[e] = sum > 0 ? acc[e] / sum : 0;)",
        {0, 1, 32, 45}, [](int row, int n, int e) { return n == 0 ? 0.0f : e == 0 ? float(row) : 2.0f; });
}

TEST_P(SpirvJoins, TwoTiledLoopsInARow) {
  check(R"(float sum = 0, more = 0;
           for (int i = 0; i < n; ++i) { s[t] = in[i]; __syncthreads(); sum += s[(t + 1) % 32]; __syncthreads(); }
           for (int i = 10; i < n; ++i) { s[t] = in[i]; __syncthreads(); more += s[(t + 3) % 32]; __syncthreads(); }
           if (row < rows) { out[row * 2] = sum > 0 ? sum + row : -5; out[row * 2 + 1] = more > 0 ? more - row : -7; })",
        {0, 3, 12}, [](int row, int n, int e) {
          float sum = sumOf(n), more = n > 10 ? sumOf(n) - sumOf(10) : 0;
          return e == 0 ? (sum > 0 ? sum + float(row) : -5) : (more > 0 ? more - float(row) : -7);
        });
}

TEST_P(SpirvJoins, BranchWithABarrierBeforeGuardedStores) {
  check(R"(float x = row;
           if (n > 0) { s[t] = in[t]; __syncthreads(); x += s[31 - t]; if (n > 1) x += 1; }
           if (row < rows) { out[row * 2] = x; out[row * 2 + 1] = n > 1 ? x * 2 : x * 3; })",
        {0, 1, 2}, [](int row, int n, int e) {
          float x = float(row) + (n > 0 ? float(32 - row % 32) : 0) + (n > 1 ? 1 : 0);
          return e == 0 ? x : n > 1 ? x * 2 : x * 3;
        });
}

TEST_P(SpirvJoins, EitherBranchHasItsBarrier) {
  check(R"(float x;
           s[t] = row;
           if (n & 1) { __syncthreads(); x = s[31 - t]; } else { s[t] += 1; __syncthreads(); x = s[t ^ 1] + 2; }
           if (row < rows) for (int e = 0; e < 2; ++e) out[row * 2 + e] = x > 5 ? x + e : n;)",
        {0, 1}, [](int row, int n, int e) {
          float x = float(n & 1 ? row / 32 * 32 + 31 - row % 32 : (row ^ 1) + 3);
          return x > 5 ? x + float(e) : float(n);
        });
}

TEST_P(SpirvJoins, BranchWithABarrierInsideALoop) {
  check(R"(float x = 0;
           for (int i = 0; i < 4; ++i) {
             if (i < n) { s[t] = in[i]; __syncthreads(); x += s[31 - t]; __syncthreads(); }
             if (row % 2) x += 1; }
           if (row < rows) { out[row * 2] = x; out[row * 2 + 1] = x > 4 ? 1 : 0; })",
        {0, 1, 4}, [](int row, int n, int e) {
          float x = sumOf(n) + (row % 2 ? 4 : 0);
          return e == 0 ? x : x > 4 ? 1.0f : 0.0f;
        });
}

TEST_P(SpirvJoins, LeavingALoopBetweenItsBarriers) {
  check(R"(float x = 0; int i = 0;
           for (; i < 6; ++i) {
             s[t] = in[i]; __syncthreads(); x += s[31 - t];
             if (i == n) break;
             __syncthreads(); x += row; }
           if (row < rows) { out[row * 2] = x; out[row * 2 + 1] = i; })",
        {0, 2, 9}, [](int row, int n, int e) {
          int i = std::min(n, 6);
          float x = sumOf(std::min(n + 1, 6)) + float(row * i);
          return e == 0 ? x : float(i);
        });
}

TEST_P(SpirvJoins, TheWholeBlockReturnsEarly) {
  check(R"(if (n < 1) { if (row < rows) { out[row * 2] = 1; out[row * 2 + 1] = row; } return; }
           s[t] = in[t]; __syncthreads();
           if (row < rows) { out[row * 2] = s[31 - t]; out[row * 2 + 1] = row; })",
        {0, 1}, [](int row, int n, int e) { return e == 1 ? float(row) : n < 1 ? 1.0f : float(32 - row % 32); });
}

TEST_P(SpirvJoins, NestedTilesThatMayNotRun) {
  check(R"(float x = 0, last = -1;
           for (int i = 0; i < n; ++i) {
             for (int j = 0; j < i; ++j) { s[t] = in[j]; __syncthreads(); x += s[(t + 5) % 32]; __syncthreads(); }
             if (row < rows) last = x; }
           if (row < rows) { out[row * 2] = x > 0 ? x + row : row; out[row * 2 + 1] = last; })",
        {0, 1, 4}, [](int row, int n, int e) {
          float x = 0;
          for (int i = 0; i < n; ++i)
            x += sumOf(i);
          return e == 0 ? x + float(row) : n ? x : -1.0f;
        });
}

} // namespace
} // namespace opsight::lower
