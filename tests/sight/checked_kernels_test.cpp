// Kernels whose accesses take every form that the compiler of checks tells apart, each right and with one fault; and
// random ones. Watched::run() holds the checks against the observers.
#include "sight/watch_run.h"
#include <random>

namespace opsight::sight {
namespace {

using testing::IsEmpty, testing::Not;
using CheckedKernels = Watched;

constexpr card::Dim3 twoWarps{64, 1, 1};

struct Form {
  const char *name, *body; // `S` stands for an index's shift: 0 is right
  card::Dim3 block{64, 1, 1}, grid{};
  uint64_t words = 1024;
  const char *fault = "1"; // what S is where there is one
};

// Pointers a, b (read only where the body does not write them) and the number n of ints in each.
constexpr Form forms[] = {
    {"one place a warp", "__shared__ int s[64]; s[t] = a[t]; __syncthreads(); b[t] = s[t / 32 + 62 + S];"},
    {"two places a warp", "__shared__ int s[64]; s[t] = a[t]; __syncthreads(); b[t] = s[t / 16 + 60 + S];"},
    {"rows of sixteen", "__shared__ int s[64]; s[t] = a[t]; __syncthreads(); b[t] = s[t % 16 + 48 + S];"},
    {"columns", "__shared__ int s[64 * 5]; for (int i = 0; i < 5; ++i) s[t * 5 + i] = t; __syncthreads(); b[t] = s[t * "
                "5 + 4 + S];"},
    {"neighbours written by others",
     "__shared__ int s[65]; if (t == 0) s[64] = 1; s[t + S] = t; __syncthreads(); b[t] = s[63 - t];"},
    {"vectors", "__shared__ float4 s[64]; s[t] = make_float4(t, 0, 0, 0); __syncthreads(); b[t] = s[(t ^ 1) + S].x;"},
    {"vectors, one for all",
     "__shared__ float4 s[64]; s[t] = make_float4(t, 0, 0, 0); __syncthreads(); b[t] = s[63 + S].y;"},
    {"halves of words", "__shared__ short s[64]; s[t] = t; __syncthreads(); b[t] = s[63 - t + S];"},
    {"bytes and words of one array",
     "__shared__ int s[64]; s[t] = t; __syncthreads(); b[t] = ((char *)s)[255 - t + S];"},
    {"halves without a barrier", "__shared__ short s[128]; s[2 * t] = t; b[t] = s[2 * t + S];"},
    {"an index that may wrap",
     "unsigned i = blockIdx.x * blockDim.x + threadIdx.x; b[i + (n - 128) + S] = a[i];",
     {64, 1, 1},
     {2, 1, 1}},
    {"indices from memory", "__shared__ int s[64]; s[t] = t; __syncthreads(); b[t] = s[(a[t] + 63 - t) + S];"},
    {"indices from memory that meet",
     "__shared__ int s[64]; s[t] = t; __syncthreads(); s[S ? a[t] : t] = t; __syncthreads(); b[t] = s[t];"},
    {"some threads", "__shared__ int s[64]; if (t < 40) s[t] = t; __syncthreads(); if (t % 3 == 0 && t < 39) b[t] = "
                     "s[39 - t + S * 3];"},
    {"one of two arrays",
     "__shared__ int s[64], r[64]; s[t] = r[t] = t; __syncthreads(); int *p = a[0] ? s : r; b[t] = p[63 - t + S];"},
    {"one of two buffers", "const int *p = a[0] ? (const int *)b : a; b[t] = p[n - 1 - t + S];"},
    {"a table of the compiler's and one of two buffers", "const int l[4] = {3, 1, 4, 1}; const int *p = a[0] ? (const int *)b : a; b[t] = l[a[t] & 3] + p[n - 1 - t + S];"},
    {"two names of dynamic memory", "extern __shared__ int s[]; extern __shared__ float f[]; s[t] = t; if (!S) __syncthreads(); b[t] = f[63 - t];"},
    {"warps that meet", "__shared__ int s[64]; s[t] = t; if (!S) __syncwarp(); b[t] = s[t ^ 1];"},
    {"a warp that meets again and again", "__shared__ int s[64]; for (int i = 0; i < 3; ++i) { s[t] = i; __syncwarp(); "
                                          "b[t] += s[t ^ 1]; if (!S) __syncwarp(); }"},
    {"rounds", "__shared__ int s[64]; int x = 0; for (int i = 0; i < 3; ++i) { s[t] = i; __syncthreads(); x += s[63 - "
               "t]; if (!S) __syncthreads(); } b[t] = x;"},
    {"atomics on shared words", "__shared__ int s[4]; if (t >= 60) s[t - 60] = 0; if (!S) __syncthreads(); "
                                "atomicAdd(&s[t % 4], 1); __syncthreads(); b[t] = s[t % 4];"},
    {"atomics of blocks", "atomicAdd(&b[t], 1); if (S) b[0] = 1;", {64, 1, 1}, {3, 1, 1}},
    {"in place", "b[t + 64 * blockIdx.x] += 1; b[t + 64 * blockIdx.x + S] *= 2;", {64, 1, 1}, {2, 1, 1}},
    {"blocks of their own",
     "b[64 * blockIdx.x + t] = t; if (S) b[(64 * blockIdx.x + t + 64) % n] = 1;",
     {64, 1, 1},
     {16, 1, 1}},
    {"a short last warp", "__shared__ int s[48]; s[t] = t; __syncthreads(); b[t] = s[47 - t + S];", {48, 1, 1}},
    {"half a warp", "__shared__ int s[16]; s[t] = t; __syncwarp(); b[t] = s[15 - t + S];", {16, 1, 1}},
    {"local arrays", "int l[8]; for (int i = 0; i < 8; ++i) l[i] = t + i; b[t] = l[(a[t] & 7) + S * (n / 128)];"},
    {"one thread",
     "int l[8]; for (int i = 0; i < 8; ++i) l[i] = a[i]; b[8 * blockIdx.x + S * 8] = l[a[0] & 7];",
     {1, 1, 1},
     {3, 1, 1},
     24},
    {"one thread's shared memory",
     "__shared__ int s[8]; for (int i = S; i < 8; ++i) s[i] = i; b[blockIdx.x] = s[a[0] & 7];",
     {1, 1, 1},
     {3, 1, 1}},
    {"one thread's vectors",
     "((int4 *)b)[blockIdx.x] = ((const int4 *)(a + S * (n - 8)))[blockIdx.x];",
     {1, 1, 1},
     {3, 1, 1}},
};

TEST_F(CheckedKernels, OfEveryFormAreSuspectWithTheFaultAndNotWithout) {
  for (const Form &form : forms)
    for (const char *shift : {"0", form.fault}) {
      SCOPED_TRACE(std::string(form.name) + ", S " + shift);
      std::string text = std::string("#define S ") + shift +
                         "\n__global__ void k(int *b, const int *a, int n) { const int t = threadIdx.x; " + form.body +
                         " }";
      run({.cuda = text, .block = form.block, .grid = form.grid, .words = form.words, .shared = 256});
      if (shift[0] == '0')
        EXPECT_THAT(faults(), IsEmpty());
      else
        EXPECT_THAT(faults(), Not(IsEmpty()));
    }
}

/// Some statements with barriers among them, right or not.
std::string randomKernel(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto pick = [&](auto... of) {
    const char *all[] = {of...};
    return std::string(all[random() % sizeof...(of)]);
  };
  auto index = [&] {
    return pick("t", "t", "t", "t ^ 1", "63 - t", "t / 16", "t % 16 * 4", "t * 2 % 64", "(t + 32) % 64", "a[t] + t",
                "5", "(t * 5) % 64");
  };
  std::string body;
  for (int i = 0; i < 7; ++i) {
    std::string guard = pick("", "", "", "if (t < 32) ", "if (t % 2) ", "if (t == 3) ", "for (int i = 0; i < 2; ++i) ");
    std::string array = pick("s", "s", "r", "b", "c");
    body += "  " + guard + pick("x += ", "x ^= ", "", "");
    if (body.ends_with("= "))
      body += array + "[" + index() + "];\n";
    else
      body += pick("", "", "atomicAdd(&").empty() || array == "c"
                  ? array + "[" + index() + "] = x;\n"
                  : "atomicAdd(&" + (array == "b" ? std::string("b") : std::string("s")) + "[" + index() + "], 1);\n";
    body += pick("  __syncthreads();\n", "  __syncthreads();\n", "  __syncwarp();\n", "");
  }
  return "__global__ void k(int *b, const int *a, int n) {\n  __shared__ int s[64], r[64]; __shared__ short c[64];\n"
         "  const int t = threadIdx.x; int x = t;\n  s[t] = r[t] = c[t] = t;\n  __syncthreads();\n" +
         body + "  b[64 + t] = x;\n}";
}

TEST_F(CheckedKernels, WrittenAtRandomAreSuspectWhereverObserversFindSomething) {
  int found = 0, clean = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    std::string text = randomKernel(seed);
    both({.cuda = text, .block = twoWarps, .words = 256});
    found += !faults().empty();
    clean += checked.isClean;
    EXPECT_TRUE(faults().empty() || !checked.isClean) << "seed " << seed << "\n" << text << "\n" << faults()[0];
  }
  EXPECT_GT(found, 2);
  EXPECT_GT(clean, 0);
}

} // namespace
} // namespace opsight::sight
