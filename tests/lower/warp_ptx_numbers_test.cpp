// Inline PTX on the warp machine: arithmetic, each instruction with the value that the PTX ISA documents, computed here.
#include "lower/semantic_case.h"
#include <bit>

namespace opsight::lower {
namespace {

constexpr int threads = 64;

/// Words that show edges: signs, extremes, small counts (for shifts and fields), floats and pairs of halves.
uint32_t word(int thread, int which) {
  static const uint32_t edges[] = {0,          1,          0x80000000, 0xffffffff, 0x7fffffff, 31,         32,         33,
                                   0x3f800000, 0xbf000000, 0x40490fdb, 0x3c00bc00, 0x12345678, 0x87654321, 0x00ff00ff, 8,
                                   0x7f800000, 0x7fc00000, 0xff800000, 0x4f000000, 5,          0xfffffff0, 0x41a00000, 0x0000ff03};
  return edges[size_t(thread * (2 * which + 1) + 5 * which + thread / 24) % std::size(edges)];
}

struct Asked {
  const char *text; // of %1, %2 and %3 into %0
  std::function<uint32_t(uint32_t a, uint32_t b, uint32_t c)> means;
};

/// One NaN for all: which one an operation gives is nobody's promise.
uint32_t plainNan(uint32_t x) { return (x & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : x; }

/// A kernel that asks for all of `asked`, on words.
Case family(const char *name, std::vector<Asked> asked, bool givesFloats = false) {
  std::string cuda = std::string("#define SHOWN(x) ") + (givesFloats ? "(((x) & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : (x))\n" : "(x)\n") +
                     "__global__ void k(unsigned *out, const unsigned *in) {\n  int t = threadIdx.x;\n"
                     "  unsigned a = in[3 * t], b = in[3 * t + 1], c = in[3 * t + 2];\n";
  for (size_t i = 0; i < asked.size(); ++i)
    cuda += fmt::format("  {{ unsigned r = 0; asm volatile(\"{}\" : \"+r\"(r) : \"r\"(a), \"r\"(b), \"r\"(c));\n"
                        "    out[t * {} + {}] = SHOWN(r); }}\n",
                        asked[i].text, asked.size(), i);
  return {.name = name,
          .cuda = cuda + "}",
          .block = {threads},
          .expected = each<uint32_t>(threads * asked.size(),
                                     [=](int i) {
                                       int t = i / int(asked.size());
                                       uint32_t meant = asked[size_t(i) % asked.size()].means(word(t, 0), word(t, 1), word(t, 2));
                                       return givesFloats ? plainNan(meant) : meant;
                                     }),
          .in = each<uint32_t>(3 * threads, [](int i) { return word(i / 3, i % 3); })};
}

using U = uint32_t;
using U64 = uint64_t;
int32_t s(U x) { return int32_t(x); }
float f(U x) { return std::bit_cast<float>(x); }
U bits(float x) { return std::bit_cast<U>(x); }
U shl(U x, U by) { return by > 31 ? 0 : x << by; }
U bfe(U word, U at, U length, bool isSigned) {
  at &= 255, length &= 255;
  U sign = !isSigned || length == 0 ? 0 : word >> std::min(at + length - 1, 31u) & 1, result = 0;
  for (U i = 0; i < 32; ++i)
    result |= (i < length && at + i <= 31 ? word >> (at + i) & 1 : sign) << i;
  return result;
}
U bfi(U from, U into, U at, U length) {
  at &= 255, length &= 255;
  for (U i = 0; i < length && at + i <= 31; ++i)
    into = (into & ~(1u << (at + i))) | (from >> i & 1) << (at + i);
  return into;
}
U prmt(U a, U b, U selector) {
  U64 bytes = U64(b) << 32 | a;
  U result = 0;
  for (int i = 0; i < 4; ++i) {
    U nibble = selector >> 4 * i & 15, byte = U(bytes >> 8 * (nibble & 7)) & 255;
    result |= (nibble & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
  }
  return result;
}
U lop3(U a, U b, U c, U table) {
  U result = 0;
  for (int i = 0; i < 32; ++i)
    result |= (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
  return result;
}
U dp4a(U a, U b, U c, bool isSigned) {
  for (int i = 0; i < 4; ++i)
    c += isSigned ? U(int8_t(a >> 8 * i) * int8_t(b >> 8 * i)) : U(uint8_t(a >> 8 * i)) * uint8_t(b >> 8 * i);
  return c;
}

const std::vector<Case> arithmetic = {
    family("Sums", {{"add.u32 %0, %1, %2;", [](U a, U b, U) { return a + b; }},
                    {"sub.s32 %0, %1, 0x10;", [](U a, U, U) { return a - 16; }},
                    {"add.sat.s32 %0, %1, %2;",
                     [](U a, U b, U) { return U(std::clamp<int64_t>(int64_t(s(a)) + s(b), INT32_MIN, INT32_MAX)); }},
                    {"min.s32 %0, %1, %2;", [](U a, U b, U) { return U(std::min(s(a), s(b))); }},
                    {"max.u32 %0, %1, %2;", [](U a, U b, U) { return std::max(a, b); }},
                    {"abs.s32 %0, %1;", [](U a, U, U) { return s(a) < 0 ? -a : a; }},
                    {"neg.s32 %0, %1;", [](U a, U, U) { return -a; }},
                    {"sad.u32 %0, %1, %2, %3;", [](U a, U b, U c) { return c + (a > b ? a - b : b - a); }},
                    {"{ .reg .u32 h; add.cc.u32 %0, %1, %2; addc.u32 h, %3, -1; xor.b32 %0, %0, h; }",
                     [](U a, U b, U c) { return (a + b) ^ U(c - 1 + ((U64(a) + b) >> 32)); }},
                    {"{ .reg .u32 h; sub.cc.u32 %0, %1, %2; subc.u32 h, %3, 7; xor.b32 %0, %0, h; }",
                     [](U a, U b, U c) { return (a - b) ^ (c - 7 - (a < b)); }}}),
    family("Products", {{"mul.lo.u32 %0, %1, %2;", [](U a, U b, U) { return a * b; }},
                        {"mul.hi.u32 %0, %1, %2;", [](U a, U b, U) { return U(U64(a) * b >> 32); }},
                        {"mul.hi.s32 %0, %1, %2;", [](U a, U b, U) { return U(int64_t(s(a)) * s(b) >> 32); }},
                        {"mad.lo.s32 %0, %1, %2, %3;", [](U a, U b, U c) { return a * b + c; }},
                        {"{ .reg .u64 w; .reg .b32 lo; mul.wide.s32 w, %1, %2; mov.b64 {lo, %0}, w; }",
                         [](U a, U b, U) { return U(int64_t(s(a)) * s(b) >> 32); }},
                        {"{ .reg .u64 w, x; cvt.u64.u32 x, %3; mad.wide.u32 w, %1, %2, x; shr.u64 w, w, 8; cvt.u32.u64 %0, w; }",
                         [](U a, U b, U c) { return U((U64(a) * b + c) >> 8); }},
                        {"{ .reg .u32 d; or.b32 d, %2, 1; div.u32 %0, %1, d; rem.u32 d, %1, d; add.u32 %0, %0, d; }",
                         [](U a, U b, U) { return a / (b | 1) + a % (b | 1); }},
                        {"dp4a.s32.s32 %0, %1, %2, %3;", [](U a, U b, U c) { return dp4a(a, b, c, true); }},
                        {"dp4a.u32.u32 %0, %1, %2, %3;", [](U a, U b, U c) { return dp4a(a, b, c, false); }}}),
    family("ShiftsCountTheirWholeAmount",
           {{"shl.b32 %0, %1, %2;", [](U a, U b, U) { return shl(a, b); }},
            {"shr.u32 %0, %1, %2;", [](U a, U b, U) { return b > 31 ? 0 : a >> b; }},
            {"shr.s32 %0, %1, %2;", [](U a, U b, U) { return U(s(a) >> std::min(b, 31u)); }},
            {"shf.l.wrap.b32 %0, %1, %2, %3;", [](U a, U b, U c) { return U((U64(b) << 32 | a) << (c & 31) >> 32); }},
            {"shf.r.wrap.b32 %0, %1, %2, %3;", [](U a, U b, U c) { return U((U64(b) << 32 | a) >> (c & 31)); }},
            {"shf.l.clamp.b32 %0, %1, %2, %3;", [](U a, U b, U c) { return c > 31 ? a : U((U64(b) << 32 | a) << c >> 32); }},
            {"shf.r.clamp.b32 %0, %1, %2, %3;", [](U a, U b, U c) { return c > 31 ? b : U((U64(b) << 32 | a) >> c); }}}),
    family("BitsAndBytes",
           {{"and.b32 %0, %1, %2;", [](U a, U b, U) { return a & b; }},
            {"not.b32 %0, %1;", [](U a, U, U) { return ~a; }},
            {"popc.b32 %0, %1;", [](U a, U, U) { return U(std::popcount(a)); }},
            {"clz.b32 %0, %1;", [](U a, U, U) { return U(std::countl_zero(a)); }},
            {"brev.b32 %0, %1;", [](U a, U, U) { U r = 0; for (int i = 0; i < 32; ++i) r |= (a >> i & 1) << (31 - i); return r; }},
            {"bfind.u32 %0, %1;", [](U a, U, U) { return U(31 - std::countl_zero(a)); }},
            {"bfind.s32 %0, %1;", [](U a, U, U) { return U(31 - std::countl_zero(s(a) < 0 ? ~a : a)); }},
            {"bfind.shiftamt.u32 %0, %1;", [](U a, U, U) { return a ? U(std::countl_zero(a)) : ~0u; }},
            {"bfe.u32 %0, %1, %2, %3;", [](U a, U b, U c) { return bfe(a, b, c, false); }},
            {"bfe.s32 %0, %1, %2, %3;", [](U a, U b, U c) { return bfe(a, b, c, true); }},
            {"bfe.s32 %0, %1, 7, 9;", [](U a, U, U) { return bfe(a, 7, 9, true); }},
            {"bfi.b32 %0, %1, 0x5A5A5A5A, %2, %3;", [](U a, U b, U c) { return bfi(a, 0x5a5a5a5a, b, c); }},
            {"prmt.b32 %0, %1, %2, %3;", prmt},
            {"prmt.b32 %0, %1, %2, 0xB276;", [](U a, U b, U) { return prmt(a, b, 0xb276); }},
            {"lop3.b32 %0, %1, %2, %3, 0x96;", [](U a, U b, U c) { return a ^ b ^ c; }},
            {"lop3.b32 %0, %1, %2, %3, 0x2E;", [](U a, U b, U c) { return lop3(a, b, c, 0x2e); }}}),
    family("FloatsInWords",
           {{"add.rn.f32 %0, %1, %2;", [](U a, U b, U) { return bits(f(a) + f(b)); }},
            {"add.sat.f32 %0, %1, 0f3E800000;", [](U a, U, U) { float r = f(a) + 0.25f; return r > 0 ? bits(std::min(r, 1.0f)) : 0; }},
            {"mul.ftz.f32 %0, %1, 0f40000000;", [](U a, U, U) { return bits(f(a) * 2); }},
            {"fma.rn.f32 %0, %1, %2, %3;", [](U a, U b, U c) { return bits(std::fma(f(a), f(b), f(c))); }},
            {"div.full.f32 %0, %1, %2;", [](U a, U b, U) { return bits(f(a) / f(b)); }},
            {"min.f32 %0, %1, 1.5;", [](U a, U, U) { return bits(std::fmin(f(a), 1.5f)); }},
            {"sqrt.rn.f32 %0, %1;", [](U a, U, U) { return bits(std::sqrt(f(a))); }},
            {"rcp.approx.ftz.f32 %0, %1;", [](U a, U, U) { return bits(1 / f(a)); }},
            {"copysign.f32 %0, %1, %2;", [](U a, U b, U) { return (a & 0x80000000) | (b & 0x7fffffff); }}}, true),
    family("Comparisons",
           {{"{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.b32 %0, %1, %3, p; }", [](U a, U b, U c) { return s(a) < s(b) ? a : c; }},
            {"{ .reg .pred p; setp.hi.u32 p, %1, %2; selp.b32 %0, %1, %3, p; }", [](U a, U b, U c) { return a > b ? a : c; }},
            {"{ .reg .pred p; setp.ne.b32 p, %1, 0; @p add.u32 %0, %1, %2; @!p mov.u32 %0, 77; }", [](U a, U b, U) { return a ? a + b : 77; }},
            {"{ .reg .pred p; setp.gt.f32 p, %1, %2; selp.u32 %0, 1, 0, p; }", [](U a, U b, U) { return U(f(a) > f(b)); }},
            {"{ .reg .pred p; setp.leu.f32 p, %1, %2; selp.u32 %0, 1, 0, p; }", [](U a, U b, U) { return U(!(f(a) > f(b))); }},
            {"{ .reg .pred p, q; setp.eq.b32 q, %3, 8; setp.lt.and.u32 p|q, %1, %2, q; selp.u32 %0, 2, 0, p; @q add.u32 %0, %0, 1; }",
             [](U a, U b, U c) { bool q = c == 8; return U(a < b && q) * 2 + U(!(a < b) && q); }},
            {"{ .reg .pred p, q; setp.ge.s32 p, %1, 0; setp.ge.s32 q, %2, 0; xor.pred p, p, q; not.pred q, p; selp.u32 %0, 1, 0, q; }",
             [](U a, U b, U) { return U((s(a) >= 0) == (s(b) >= 0)); }},
            {"{ .reg .pred p; setp.ge.s32 p, %1, 0; { .reg .pred p; setp.ge.s32 p, %2, 0; } @p mov.b32 %0, %3; }",
             [](U a, U, U c) { return s(a) >= 0 ? c : 0; }}}),
    family("Conversions",
           {{"cvt.rzi.s32.f32 %0, %1;", [](U a, U, U) { float x = f(a); return x != x ? 0 : U(int32_t(std::clamp<double>(double(x), INT32_MIN, INT32_MAX))); }},
            {"cvt.rni.u32.f32 %0, %1;", [](U a, U, U) { double x = std::nearbyint(double(f(a))); return x != x ? 0 : U(std::clamp(x, 0.0, 4294967295.0)); }},
            {"cvt.rn.f32.s32 %0, %1;", [](U a, U, U) { return bits(float(s(a))); }},
            {"cvt.rn.f32.u32 %0, %1;", [](U a, U, U) { return bits(float(a)); }},
            {"cvt.u32.u8 %0, %1;", [](U a, U, U) { return a & 255; }},
            {"cvt.s32.s16 %0, %1;", [](U a, U, U) { return U(int32_t(int16_t(a))); }},
            {"cvt.rpi.f32.f32 %0, %1;", [](U a, U, U) { return bits(std::ceil(f(a))); }},
            {"{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }", [](U a, U, U) { return a << 16 | a >> 16; }},
            {"{ .reg .b64 w; mov.b64 w, {%1, %2}; shl.b64 w, w, 4; mov.b64 {_, %0}, w; }", [](U a, U b, U) { return b << 4 | a >> 28; }},
            {"cvt.rna.tf32.f32 %0, %1;", [](U a, U, U) { return (a & 0x7fffffff) < 0x7f800000 ? (a + 0x1000) & 0xffffe000 : a; }}}, true),
};
SEMANTICS(PtxArithmetic, arithmetic);

const double doubles[] = {0, -0.75, 1.5, -2.5, 3e9, -3e9, 1e19, -1e19, 1.9e19, 9.2e18, -INFINITY, INFINITY, NAN, 2147483647.5, 4294967295.5, -2147483648.9};
int64_t toSigned(double x, int bits) { // truncated, saturated; NaN is the top bit
  double end = std::ldexp(1.0, bits - 1);
  return x != x || x < -end ? int64_t(~U64(0) << (bits - 1)) : x >= end ? int64_t((U64(1) << (bits - 1)) - 1) : int64_t(x);
}
U64 toUnsigned(double x, int bits) {
  double end = std::ldexp(1.0, bits);
  return x != x ? U64(1) << (bits - 1) : x < 0 ? 0 : x >= end ? ~U64(0) >> (64 - bits) : U64(x);
}
const std::vector<Case> wide = {
    {.name = "DoublesToIntegers",
     .cuda = R"(__global__ void k(long long *out, const double *in) {
       double x = in[threadIdx.x]; long long r[4]; int s; unsigned u;
       asm("cvt.rzi.s32.f64 %0, %1;" : "=r"(s) : "d"(x)); r[0] = s;
       asm("cvt.rzi.u32.f64 %0, %1;" : "=r"(u) : "d"(x)); r[1] = u;
       asm("cvt.rzi.s64.f64 %0, %1;" : "=l"(r[2]) : "d"(x)); asm("cvt.rzi.u64.f64 %0, %1;" : "=l"(r[3]) : "d"(x));
       for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = r[i];
     })",
     .block = {16},
     .expected = each<int64_t>(64, [](int i) {
       double x = doubles[i / 4];
       int64_t r[] = {toSigned(x, 32), int64_t(toUnsigned(x, 32)), toSigned(x, 64), int64_t(toUnsigned(x, 64))};
       return r[i % 4];
     }),
     .in = each<double>(16, [](int i) { return doubles[i]; })},
    {.name = "WordsOf64Bits",
     .cuda = R"(__global__ void k(unsigned long long *out) {
       unsigned long long a = 0x123456789abcdef0ull * (threadIdx.x + 1), b = a >> 7, r[6]; unsigned n;
       asm("add.u64 %0, %1, %2;" : "=l"(r[0]) : "l"(a), "l"(b)); asm("mul.hi.u64 %0, %1, %2;" : "=l"(r[1]) : "l"(a), "l"(b));
       asm("shl.b64 %0, %1, %2;" : "=l"(r[2]) : "l"(a), "r"(threadIdx.x * 5)); asm("brev.b64 %0, %1;" : "=l"(r[3]) : "l"(a));
       asm("popc.b64 %0, %1;" : "=r"(n) : "l"(a)); r[4] = n; asm("bfind.u64 %0, %1;" : "=r"(n) : "l"(a)); r[5] = n;
       for (int i = 0; i < 6; ++i) out[threadIdx.x * 6 + i] = r[i];
     })",
     .block = {16},
     .expected = each<U64>(96, [](int i) {
       U64 t = U64(i) / 6, a = 0x123456789abcdef0ull * (t + 1), b = a >> 7, reversed = 0;
       for (int k = 0; k < 64; ++k)
         reversed |= (a >> k & 1) << (63 - k);
       U64 r[] = {a + b, U64(static_cast<unsigned __int128>(a) * b >> 64), t * 5 > 63 ? 0 : a << t * 5, reversed,
                  U64(std::popcount(a)), U64(63 - std::countl_zero(a))};
       return r[i % 6];
     })},
    {.name = "ATextThatSaysNothing", // a barrier for the compiler
     .cuda = "__global__ void k(int *out) { asm volatile(\"\" ::: \"memory\"); out[threadIdx.x] = 5; }",
     .block = {32}, .expected = all<int>(32, 5)},
    {.name = "ABlockOfOneThread",
     .cuda = R"(__global__ void k(unsigned *out, const unsigned *in) {
       __shared__ uint4 s[2]; unsigned r;
       asm volatile("cp.async.cg.shared.global [%0 + 16], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(s)), "l"(in));
       asm volatile("cp.async.wait_all; bar.sync 0, 1;" ::: "memory");
       asm("{ .reg .pred p; setp.lt.u32 p, %1, %2; @p mad.lo.u32 %0, %1, %2, 5; @!p mov.u32 %0, 0; }" : "=r"(r) : "r"(s[1].y), "r"(s[1].z));
       out[0] = r; })",
     .expected = listed<U>({2 * 3 + 5}), .in = listed<U>({1, 2, 3, 4})},
};
SEMANTICS(PtxWide, wide);

const std::string half = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n";
const std::vector<Case> small = {
    {.name = "PairsOfHalves",
     .cuda = R"(__global__ void k(unsigned *out) {
       unsigned a = 0x3c00bc00u + threadIdx.x * 0x100010u, b = 0x40003800u, c = 0x3e004100u, r[6];
       asm("add.f16x2 %0, %1, %2;" : "=r"(r[0]) : "r"(a), "r"(b));
       asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r[1]) : "r"(a), "r"(b));
       asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r[2]) : "r"(a), "r"(b), "r"(c));
       asm("neg.f16x2 %0, %1;" : "=r"(r[3]) : "r"(a));
       asm("max.f16x2 %0, %1, %2;" : "=r"(r[4]) : "r"(a), "r"(b));
       asm("ex2.approx.f16x2 %0, %1;" : "=r"(r[5]) : "r"(b));
       for (int i = 0; i < 6; ++i) out[threadIdx.x * 6 + i] = r[i];
     })",
     .block = {32},
     .expected = each<U>(32 * 6, [](int i) {
       auto on = [&](auto of) {
         U words[] = {0x3c00bc00u + U(i / 6) * 0x100010u, 0x40003800u, 0x3e004100u}, result = 0;
         for (int k = 0; k < 2; ++k) {
           _Float16 v[3];
           for (int j = 0; j < 3; ++j)
             v[j] = std::bit_cast<_Float16>(uint16_t(words[j] >> 16 * k));
           result |= U(std::bit_cast<uint16_t>(_Float16(of(float(v[0]), float(v[1]), float(v[2]))))) << 16 * k;
         }
         return result;
       };
       switch (i % 6) {
       case 0: return on([](float a, float b, float) { return a + b; });
       case 1: return on([](float a, float b, float) { return a * b; });
       case 2: return on([](float a, float b, float c) { return a * b + c; }); // exact in float
       case 3: return on([](float a, float, float) { return -a; });
       case 4: return on([](float a, float b, float) { return std::max(a, b); });
       default: return on([](float, float b, float) { return std::exp2(b); });
       }
     })},
    {.name = "PairsOfBFloats",
     .cuda = R"(__global__ void k(unsigned *out) {
       unsigned a, b = 0x40003f00u, c = 0x3f803f80u, r; // 2, 0.5; 1, 1
       asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(a) : "f"(float(threadIdx.x)), "f"(1.0f + 0x1.8p-8f));
       asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
       out[2 * threadIdx.x] = a; out[2 * threadIdx.x + 1] = r;
     })",
     .block = {32},
     .expected = each<U>(64, [](int i) { // the first source is the upper half; 1 + 1.5 / 256 rounds to 1 + 2 / 256
       U upper = std::bit_cast<U>(i % 2 ? float(i / 2) * 2 + 1 : float(i / 2)) & 0xffff0000;
       return upper | (i % 2 ? 0x3fc0u : 0x3f81u); // (1 + 1/128) / 2 + 1 rounds to even
     })},
    {.name = "FunctionsOfEveryWidth",
     .cuda = half + R"(__global__ void k(float *out) {
       float x = threadIdx.x * 0.25f - 2, r[9];
       asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r[0]) : "f"(float(int(threadIdx.x) - 8)));
       asm("lg2.approx.f32 %0, %1;" : "=f"(r[1]) : "f"(float(1 << threadIdx.x % 16)));
       asm("rsqrt.approx.f32 %0, %1;" : "=f"(r[2]) : "f"(float((threadIdx.x + 1) * (threadIdx.x + 1))));
       asm("tanh.approx.f32 %0, %1;" : "=f"(r[3]) : "f"(x));
       unsigned short h; asm("tanh.approx.f16 %0, %1;" : "=h"(h) : "h"(__half_as_ushort(__half(x)))); r[4] = __ushort_as_half(h);
       asm("ex2.approx.f16 %0, %1;" : "=h"(h) : "h"(__half_as_ushort(__half(x)))); r[5] = __ushort_as_half(h);
       asm("tanh.approx.bf16 %0, %1;" : "=h"(h) : "h"(__bfloat16_as_ushort(__nv_bfloat16(x)))); r[6] = __ushort_as_bfloat16(h);
       unsigned w; asm("tanh.approx.bf16x2 %0, %1;" : "=r"(w) : "r"(unsigned(__bfloat16_as_ushort(x)) << 16)); r[7] = __ushort_as_bfloat16(w >> 16);
       asm("ex2.approx.ftz.bf16x2 %0, %1;" : "=r"(w) : "r"(unsigned(__bfloat16_as_ushort(x)))); r[8] = __ushort_as_bfloat16(w);
       for (int i = 0; i < 9; ++i) // to two digits: each has its own width
         out[threadIdx.x * 9 + i] = rintf(r[i] * 64) / 64;
     })",
     .block = {16},
     .expected = each<float>(16 * 9, [](int i) {
       int t = i / 9;
       float x = float(t) * 0.25f - 2, r[] = {std::exp2(float(t - 8)), float(t), 1 / float(t + 1), std::tanh(x)};
       auto small = [&](float v, bool half) {
         if (half)
           return float(_Float16(v));
         U w = std::bit_cast<U>(v);
         return std::bit_cast<float>((w + 0x7fff + (w >> 16 & 1)) & 0xffff0000);
       };
       float all[] = {r[0], r[1], r[2], r[3], small(r[3], true), small(std::exp2(x), true), small(r[3], false), small(r[3], false), small(std::exp2(x), false)};
       return std::nearbyint(all[i % 9] * 64) / 64;
     })},
};
SEMANTICS(PtxSmallFloats, small);

} // namespace
} // namespace opsight::lower
