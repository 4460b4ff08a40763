// Half precision gives hardware's bits on every card, whether its device has halves, computes them in float (soft_half), or
// is the host's processor: all halves, hard cases and random ones against LLVM's APFloat.
#include "lower/half_cases.h"
#include "lower/native_run.h"
#include "lower/opencl_run.h"

namespace opsight::lower {
namespace {

using namespace halves;
constexpr size_t shown = 8; // of many wrong elements

/// One array that a kernel gets, and afterwards holds what it made of it.
struct Array {
  template <class T> explicit Array(const std::vector<T> &values)
      : bytes(std::as_bytes(std::span(values)).begin(), std::as_bytes(std::span(values)).end()) {}
  template <class T> std::vector<T> as() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::vector<std::byte> bytes;
};
template <class T> Array outputs(size_t count) { return Array(std::vector<T>(count, T(77))); }

/// Text of a kernel `k(arrays …, int n)` whose body is done for every i below n.
std::string kernel(const std::string &parameters, const std::string &body) {
  return "#include <cuda_fp16.h>\n"
         "typedef unsigned short u16;\n"
         "__device__ _Float16 H(u16 bits) { return __builtin_bit_cast(_Float16, bits); }\n"
         "__device__ u16 B(_Float16 value) { return __builtin_bit_cast(u16, value); }\n"
         "__global__ void k(" + parameters + ", int n) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n" + body + "}\n";
}

class Half : public OnOpenCl {
protected:
  void SetUp() override {
    if (!onCpu())
      OnOpenCl::SetUp();
  }

  void compute(const std::string &source, size_t count, const std::vector<Array *> &arrays) {
    onCpu() ? onHost(source, count, arrays) : onDriver(source, count, arrays);
  }

private:
  static bool onCpu() { return GetParam().card.starts_with("cpu"); }
  void onHost(const std::string &source, size_t count, const std::vector<Array *> &arrays) {
    Target target;
    if (GetParam().card == "cpu:x86-64-v3") // converts halves in hardware but computes none, unlike newer processors
      target.processor = "x86-64-v3";
    auto artifact = compileText(source, target, GetParam().optimization);
    ASSERT_TRUE(artifact) << describe(artifact.error());
    Loaded loaded(*artifact);
    std::vector<void *> pointers;
    for (Array *array : arrays)
      pointers.push_back(array->bytes.data());
    std::vector<const void *> arguments;
    for (void *&pointer : pointers)
      arguments.push_back(&pointer);
    int n = int(count);
    arguments.push_back(&n);
    loaded.run({uint32_t(count), 1, 1}, arguments);
  }
  void onDriver(const std::string &source, size_t count, const std::vector<Array *> &arrays) {
    std::vector<card::Argument> arguments;
    std::vector<card::Buffer *> held;
    for (Array *array : arrays)
      arguments.push_back(held.emplace_back(buffer(array->bytes)));
    arguments.push_back(scalar(int(count)));
    run({source}, {.grid = {uint32_t(count + 127) / 128, 1, 1}, .block = {128, 1, 1}}, arguments);
    for (size_t i = 0; i < arrays.size(); ++i)
      arrays[i]->bytes = contents<std::byte>(held[i]);
    buffers.clear();
  }
};

auto cards() {
  return testing::Values(Where{"opencl:pocl", 0}, Where{"opencl:pocl", 3}, Where{"opencl:intel", 0}, Where{"opencl:intel", 3},
                         Where{"cpu", 0}, Where{"cpu", 3}, Where{"cpu:x86-64-v3", 3});
}
INSTANTIATE_TEST_SUITE_P(Cards, Half, cards(), [](const testing::TestParamInfo<Where> &info) {
  std::string name = whereName(info);
  std::ranges::replace(name, '-', '_');
  return name;
});

/// Expects every element of `got` to be the half that `want` says for its index.
template <class Want, class Tell> void expectHalves(const Array &got, Want want, Tell tell) {
  std::vector<uint16_t> bits = got.as<uint16_t>();
  size_t wrong = 0;
  for (size_t i = 0; i < bits.size(); ++i)
    if (uint16_t expected = want(i); !agrees(bits[i], expected) && ++wrong <= shown)
      ADD_FAILURE() << tell(i) << std::hex << " gives 0x" << bits[i] << ", not 0x" << expected;
  EXPECT_EQ(wrong, 0u);
}

std::vector<uint16_t> everyHalf() {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = uint16_t(i);
  return all;
}

TEST_P(Half, EveryHalfWidensExactly) {
  Array in(everyHalf()), floats = outputs<float>(65536), doubles = outputs<double>(65536);
  compute(kernel("const u16 *h, float *f, double *d", "f[i] = (float)H(h[i]); d[i] = (double)H(h[i]);"), 65536,
          {&in, &floats, &doubles});
  std::vector<float> f = floats.as<float>();
  std::vector<double> d = doubles.as<double>();
  for (uint32_t i = 0; i < 65536; ++i) {
    if (isNan(uint16_t(i))) {
      ASSERT_TRUE(std::isnan(f[i]) && std::isnan(d[i])) << i;
      ASSERT_TRUE(std::bit_cast<uint32_t>(f[i]) & 0x400000) << "a signalling NaN from " << i;
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint32_t>(f[i]), std::bit_cast<uint32_t>(float(valueOf(uint16_t(i))))) << i;
    ASSERT_EQ(std::bit_cast<uint64_t>(d[i]), std::bit_cast<uint64_t>(valueOf(uint16_t(i)))) << i;
  }
}

TEST_P(Half, FloatsRoundToTheNearestHalf) {
  std::vector<float> values = aroundHalves<float>();
  Array in(values), out = outputs<uint16_t>(values.size());
  compute(kernel("const float *x, u16 *h", "h[i] = B((_Float16)x[i]);"), values.size(), {&in, &out});
  expectHalves(out, [&](size_t i) { return rounded(values[i]); }, [&](size_t i) { return values[i]; });
}

TEST_P(Half, DoublesRoundOnceToTheNearestHalf) {
  std::vector<double> values = aroundHalves<double>();
  Array in(values), out = outputs<uint16_t>(values.size());
  compute(kernel("const double *x, u16 *h", "h[i] = B((_Float16)x[i]);"), values.size(), {&in, &out});
  expectHalves(out, [&](size_t i) { return rounded(values[i]); }, [&](size_t i) { return values[i]; });
}

TEST_P(Half, SumsProductsQuotientsRootsAndFusedSumsRoundOnce) {
  std::vector<Triple> all = triples();
  Array in(all), sum = outputs<uint16_t>(all.size()), difference = sum, product = sum, quotient = sum, root = sum, fused = sum;
  compute(kernel("const u16 *t, u16 *sum, u16 *difference, u16 *product, u16 *quotient, u16 *root, u16 *fused",
                 R"(_Float16 a = H(t[3 * i]), b = H(t[3 * i + 1]), c = H(t[3 * i + 2]);
                    sum[i] = B(a + b); difference[i] = B(a - b); product[i] = B(a * b); quotient[i] = B(a / b);
                    root[i] = B(__builtin_elementwise_sqrt(a)); fused[i] = B(__builtin_elementwise_fma(a, b, c));)"),
          all.size(), {&in, &sum, &difference, &product, &quotient, &root, &fused});
  auto expect = [&](const char *name, const Array &got, auto operation) {
    expectHalves(
        got,
        [&](size_t i) {
          APFloat a = half(all[i].a);
          operation(a, half(all[i].b), half(all[i].c));
          return bitsOf(a);
        },
        [&](size_t i) {
          std::ostringstream text;
          text << name << std::hex << " of 0x" << all[i].a << ", 0x" << all[i].b << ", 0x" << all[i].c;
          return text.str();
        });
  };
  expect("sum", sum, [](APFloat &a, const APFloat &b, const APFloat &) { a.add(b, nearest); });
  expect("difference", difference, [](APFloat &a, const APFloat &b, const APFloat &) { a.subtract(b, nearest); });
  expect("product", product, [](APFloat &a, const APFloat &b, const APFloat &) { a.multiply(b, nearest); });
  expect("quotient", quotient, [](APFloat &a, const APFloat &b, const APFloat &) { a.divide(b, nearest); });
  expect("fused sum", fused, [](APFloat &a, const APFloat &b, const APFloat &c) { a.fusedMultiplyAdd(b, c, nearest); });
  // A root of a half is no middle of two, by far: the double root rounded is the root rounded.
  expect("root", root, [](APFloat &a, const APFloat &, const APFloat &) { a = half(rounded(std::sqrt(valueOf(bitsOf(a))))); });
}

TEST_P(Half, AProductAndASumThatMayFuseRoundOnce) {
  std::vector<Triple> all = triples();
  Array in(all), out = outputs<uint16_t>(all.size());
  compute(kernel("const u16 *t, u16 *out", "out[i] = B(H(t[3 * i]) * H(t[3 * i + 1]) + H(t[3 * i + 2]));"), all.size(),
          {&in, &out});
  auto fused = [&](size_t i) {
    APFloat a = half(all[i].a);
    a.fusedMultiplyAdd(half(all[i].b), half(all[i].c), nearest);
    return bitsOf(a);
  };
  expectHalves(out, fused, [](size_t i) { return i; });
}

TEST_P(Half, IntegersRoundOnce) {
  std::vector<int64_t> values;
  for (int shift = 0; shift < 64; ++shift)
    for (int64_t step : {-3, -2, -1, 0, 1, 2, 3})
      for (int64_t sign : {1, -1})
        values.push_back(sign * int64_t((uint64_t(1) << shift) + uint64_t(step)));
  for (int64_t i = -70000; i < 70000; ++i)
    values.push_back(i);
  size_t n = values.size();
  Array in(values), words = outputs<uint16_t>(n), naturals = words, shorts = words, wide = words, wideNaturals = words;
  compute(kernel("const long long *x, u16 *w, u16 *u, u16 *s, u16 *l, u16 *ul",
                 R"(long long v = x[i]; w[i] = B((_Float16)(int)v); u[i] = B((_Float16)(unsigned)v);
                    s[i] = B((_Float16)(short)v); l[i] = B((_Float16)v); ul[i] = B((_Float16)(unsigned long long)v);)"),
          n, {&in, &words, &naturals, &shorts, &wide, &wideNaturals});
  auto tell = [&](size_t i) { return values[i]; };
  expectHalves(words, [&](size_t i) { return roundedInteger(int32_t(values[i])); }, tell);
  expectHalves(naturals, [&](size_t i) { return roundedInteger(uint32_t(values[i])); }, tell);
  expectHalves(shorts, [&](size_t i) { return roundedInteger(int16_t(values[i])); }, tell);
  expectHalves(wide, [&](size_t i) { return roundedInteger(values[i]); }, tell);
  expectHalves(wideNaturals, [&](size_t i) { return roundedInteger(uint64_t(values[i])); }, tell);
}

TEST_P(Half, EveryHalfBecomesAnIntegerByTruncation) {
  Array in(everyHalf()), words = outputs<int>(65536), naturals = outputs<unsigned>(65536), wide = outputs<int64_t>(65536);
  compute(kernel("const u16 *h, int *w, unsigned *u, long long *l",
                 "w[i] = (int)H(h[i]); u[i] = (unsigned)H(h[i]); l[i] = (long long)H(h[i]);"),
          65536, {&in, &words, &naturals, &wide});
  std::vector<int> w = words.as<int>();
  std::vector<unsigned> u = naturals.as<unsigned>();
  std::vector<int64_t> l = wide.as<int64_t>();
  for (uint32_t i = 0; i < 65536; ++i) {
    double value = valueOf(uint16_t(i));
    bool finite = std::isfinite(value), negative = i & 0x8000;
    int64_t least = INT64_MIN, most = INT64_MAX;
    ASSERT_EQ(w[i], finite ? int(value) : isNan(uint16_t(i)) ? 0 : negative ? INT_MIN : INT_MAX) << value;
    ASSERT_EQ(u[i], finite ? unsigned(std::max(0.0, value)) : isNan(uint16_t(i)) || negative ? 0 : UINT_MAX) << value;
    ASSERT_EQ(l[i], finite ? int64_t(value) : isNan(uint16_t(i)) || negative ? least : most) << value;
  }
}

TEST_P(Half, SignsAndComparisonsAndWholeNumbersAreExact) {
  std::vector<uint16_t> some = corners();
  std::vector<uint16_t> pairs;
  for (uint16_t a : some)
    for (uint16_t b : some)
      pairs.insert(pairs.end(), {a, b});
  size_t n = pairs.size() / 2;
  Array in(pairs), bits = outputs<uint16_t>(8 * n), order = outputs<int>(n);
  compute(kernel("const u16 *p, u16 *o, int *order",
                 R"(_Float16 a = H(p[2 * i]), b = H(p[2 * i + 1]); u16 *at = o + 8 * i;
                    at[0] = B(-a); at[1] = B(__builtin_elementwise_abs(a)); at[2] = B(__builtin_elementwise_copysign(a, b));
                    at[3] = B(__builtin_elementwise_floor(a)); at[4] = B(__builtin_elementwise_ceil(a));
                    at[5] = B(__builtin_elementwise_trunc(a)); at[6] = B(__builtin_elementwise_rint(a));
                    at[7] = B(__hmax(a, b));
                    order[i] = (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5;)"),
          n, {&in, &bits, &order});
  auto want = [&](size_t at) {
    uint16_t a = pairs[at / 8 * 2], b = pairs[at / 8 * 2 + 1];
    double x = valueOf(a), y = valueOf(b);
    switch (at % 8) {
    case 0: return uint16_t(a ^ 0x8000);
    case 1: return uint16_t(a & 0x7FFF);
    case 2: return uint16_t((a & 0x7FFF) | (b & 0x8000));
    case 3: return rounded(std::floor(x));
    case 4: return rounded(std::ceil(x));
    case 5: return rounded(std::trunc(x));
    case 6: return rounded(std::nearbyint(x));
    default: return isNan(b) || (x == y ? !(a & 0x8000) : x > y) ? a : b;
    }
  };
  expectHalves(bits, want, [&](size_t at) {
    return "function " + std::to_string(at % 8) + " of " + std::to_string(pairs[at / 8 * 2]) + " and " + std::to_string(pairs[at / 8 * 2 + 1]);
  });
  std::vector<int> got = order.as<int>();
  for (size_t i = 0; i < n; ++i) {
    double x = valueOf(pairs[2 * i]), y = valueOf(pairs[2 * i + 1]);
    ASSERT_EQ(got[i], (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5) << x << " " << y;
  }
}

TEST(HalfOnOlderProcessors, AWarpOfThreadsNeedsNoLibraryToRoundHalves) {
  Target target{.block = {32, 1, 1}};
  target.processor = "x86-64-v3";
  auto artifact = compileText(kernel("const double *x, u16 *h",
                                     R"(_Float16 a = (_Float16)x[i];
                                        h[i] = B(__builtin_elementwise_fma(a, a, (_Float16)2) + a * a);)"),
                              target);
  EXPECT_TRUE(artifact) << describe(artifact.error());
}

} // namespace
} // namespace opsight::lower
