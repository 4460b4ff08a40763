#include "fuzz/author.h"
#include <fmt/format.h>

namespace opsight::fuzz {

const std::string &prelude() {
  static const std::string text = R"(
__device__ int add(int a, int b) { return int(unsigned(a) + unsigned(b)); }
__device__ int sub(int a, int b) { return int(unsigned(a) - unsigned(b)); }
__device__ int mul(int a, int b) { return int(unsigned(a) * unsigned(b)); }
__device__ int shl(int a, int b) { return int(unsigned(a) << (b & 31)); }
__device__ int shr(int a, int b) { return a >> (b & 31); }
__device__ int ushr(int a, int b) { return int(unsigned(a) >> (b & 31)); }
__device__ int quotient(int a, int b) { return (a >> 1) / (b | 1); }
__device__ int rest(int a, int b) { return (a >> 1) % (b | 1); }
__device__ int uquotient(int a, int b) { return int(unsigned(a) / unsigned(b | 1)); }
__device__ int urest(int a, int b) { return int(unsigned(a) % unsigned(b | 1)); }
__device__ int high(int a, int b) { return __mulhi(a, b); }
__device__ int hash(int a) { unsigned h = unsigned(a) * 0x9E3779B9u; return int(h ^ h >> 15); }
__device__ long long ladd(long long a, long long b) { return (long long)((unsigned long long)a + (unsigned long long)b); }
__device__ long long lmul(long long a, long long b) { return (long long)((unsigned long long)a * (unsigned long long)b); }
__device__ long long lshl(long long a, int b) { return (long long)((unsigned long long)a << (b & 63)); }
__device__ long long lquotient(long long a, long long b) { return (a >> 1) / (b | 1); }
__device__ long long lurest(long long a, long long b) {
  return (long long)((unsigned long long)a % (unsigned long long)(b | 1));
}
__device__ long long lushr(long long a, int b) { return (long long)((unsigned long long)a >> (b & 63)); }
__device__ int whole(float x) { return int(fminf(fmaxf(x, -1e6f), 1e6f)); }
__device__ float plain(float x) { return x == x ? x : 0.5f; }
__device__ int bitsOf(float x) { return __float_as_int(plain(x)); }
__device__ int halfBits(half h) { return __half2float(h) == __half2float(h) ? __half_as_short(h) : 77; }
__device__ int dbits(double x) { long long b = __double_as_longlong(x == x ? x : 0.5); return int(b ^ b >> 32); }
__constant__ int table[16] = {4, -1, 70000, 3, 2, 12, 0, -8, 31, 5, 1, 6, 255, 9, -70000, 7};
__constant__ float weights[8] = {0.5f, -1.0f, 3.0f, 1e-3f, 0.0f, 7.25f, -0.125f, 1e6f};
__device__ int walk(int a, int b) {
  for (int i = 0; i < (b & 7); ++i) {
    if (a & 4)
      return i;
    a = add(a, 3);
  }
  return a;
}
)";
  return text;
}

std::string Kernel::source(const std::string &name) const {
  return fmt::format(
      "extern \"C\" __global__ void {}(const int *in, const float *reals, const unsigned char *bytes, int *out, "
      "short *shorts, float *floats, int *counts, unsigned long long *longs, int n, int m) {}\n",
      name, body.source());
}

std::string Kernel::launch() const {
  return fmt::format("seed {}: grid {},{},{}, block {},{},{}, n = {}, m = {}, {} bytes of dynamic shared memory", seed,
                     grid.x, grid.y, grid.z, block.x, block.y, block.z, n, m, sharedBytes);
}

Kernel write(uint64_t seed) { return Author(seed).write(); }

// Where to read in an input, always below `inputs`: everything that addresses are made of in real kernels.
std::string Author::place() {
  switch (pick(6)) {
  case 0:
  case 1:
    return one({"g", "g * 2", "g * 3 + 1", "n - 1 - g", "g / 16", "g % 16", "(g % 16) * 17 + g / 16", "t ^ 1", "t ^ 5",
                "t | 64", "63 - t % 64", "t & ~3", "t / 2", "t + (t & 3)", "t * 4 + (t >> 2)", "t % 3", "t / 5"});
  case 2:
    return one({"threadIdx.x", "threadIdx.y * blockDim.x + threadIdx.x", "threadIdx.x * 8 + threadIdx.y",
                "threadIdx.z + threadIdx.y * 2", "blockIdx.x * 7 + t", "lane", "lane ^ 16", "31 - lane",
                "lane * 32 + warp", "warp"});
  case 3:
    if (!counters_.empty()) {
      std::string i = counters_[pick(unsigned(counters_.size()))];
      return i + one({" + g", " * 64 + t", " + t % 8", " * 3", " + lane * 8"});
    }
    return one({"(m & 255) + t", "(u & 511) + g", "(u & 255) * 4 + t % 4"});
  case 4:
    return one(
        {"(a & 4095)", "(hash(g) & 1023)", "(b & 63) * 8 + t % 8", "(hash(c) & 4095)", "(t & 7) * 32 + (u & 31)"});
  default:
    return one({"(u & 1023)", "(m & 63)", "blockIdx.x", "n - 1", "(v & 7) + 8"});
  }
}

// A place of the thread's own among those of all threads.
std::string Author::ownPlace() {
  unsigned threads = unsigned(kernel_.block.count()), all = kernel_.threads();
  switch (pick(6)) {
  case 0:
    return fmt::format("{} - g", all - 1);
  case 1:
    if (threads % 2 == 0)
      return "(g ^ 1)";
    return "g";
  case 2:
    if (threads % 16 == 0)
      return fmt::format("blockIdx.x * {} + t % 16 * {} + t / 16", threads, threads / 16);
    return fmt::format("blockIdx.x * {} + {} - t", threads, threads - 1);
  case 3:
    if ((threads & (threads - 1)) == 0)
      return fmt::format("blockIdx.x * {} + (t * 5 + 3) % {}", threads, threads);
    return "g";
  default:
    return "g";
  }
}

Node Author::leaf(Node::Kind kind) {
  switch (kind) {
  case Node::Int:
    if (chance(15) && !counters_.empty())
      return {kind, counters_[pick(unsigned(counters_.size()))]};
    if (chance(8) && !stored_.empty())
      return {kind, stored_[pick(unsigned(stored_.size()))]};
    if (chance(25))
      return {kind, fmt::format("in[{}]", place())};
    if (chance(8))
      return {kind, fmt::format("bytes[{}]", place())};
    if (chance(6))
      return {kind, vectorElement("reinterpret_cast<const int4 *>(in)")};
    return {kind, one({"a",
                       "b",
                       "c",
                       "d",
                       "a",
                       "b",
                       "c",
                       "d",
                       "g",
                       "t",
                       "u",
                       "v",
                       "n",
                       "m",
                       "1",
                       "-1",
                       "7",
                       "100",
                       "lane",
                       "warp",
                       "int(threadIdx.x)",
                       "int(threadIdx.y)",
                       "int(blockIdx.x)"})};
  case Node::Long:
    if (shared_ && chance(10))
      return {kind, one({"(long long)wide[t & 7]", "(long long)wide[u & 7]"})};
    return {kind, one({"k", "l", "k", "l", "5ll", "-3ll", "0x123456789ll"})};
  case Node::Half:
    return halfLeaf();
  case Node::Real:
    if (chance(10))
      return {kind, vectorElement("reinterpret_cast<const float4 *>(reals)")};
    if (chance(30))
      return {kind, fmt::format("reals[{}]", place())};
    return {kind, one({"x", "y", "x", "y", "1.5f", "-0.25f", "3e10f"})};
  case Node::Double:
    if (chance(30))
      return {kind, fmt::format("double(reals[{}])", place())};
    return {kind, one({"r", "z", "r", "z", "1.5", "-1e-3", "1e200"})};
  case Node::Bool:
    return {kind, one({"p", "q", "(t & 1)", "(lane < 5)", "(g % 3 == 0)", "(a > b)", "(threadIdx.x < 7)"})};
  default:
    if (chance(30) && !commonCounters_.empty())
      return {Node::Common, commonCounters_[pick(unsigned(commonCounters_.size()))]};
    return {Node::Common, one({"u", "v", "n", "m", "1", "3", "-2", "int(blockIdx.x)", "in[u & 1023]", "in[v & 63]", "table[u & 15]"})};
  }
}

Node Author::expression(Node::Kind kind, unsigned depth) {
  if (depth == 0 || chance(20))
    return leaf(kind);
  --depth;
  switch (kind) {
  case Node::Int:
    return integer(depth);
  case Node::Long:
    return longInteger(depth);
  case Node::Real:
    return real(depth);
  case Node::Double:
    return doubleReal(depth);
  case Node::Bool:
    return truth(depth);
  case Node::Half:
    return half(depth);
  default:
    return common(depth);
  }
}

Node Author::integer(unsigned depth) {
  auto of = [&](const std::string &text, std::initializer_list<Node::Kind> kinds) {
    Node node{Node::Int, text};
    for (Node::Kind kind : kinds)
      node.children.push_back(expression(kind, depth));
    return node;
  };
  switch (pick(12)) {
  case 0:
  case 1:
  case 2:
    return of(one({"add($, $)", "sub($, $)", "mul($, $)", "($ & $)", "($ | $)", "($ ^ $)"}), {Node::Int, Node::Int});
  case 3:
    return of(one({"shl($, $)", "shr($, $)", "ushr($, $)", "min($, $)", "max($, $)", "high($, $)"}),
              {Node::Int, Node::Int});
  case 4:
    return of(one({"quotient($, $)", "rest($, $)", "uquotient($, $)", "urest($, $)"}), {Node::Int, Node::Int});
  case 5:
    return of(one({"urest($, 10)", "rest($, 6)", "quotient($, 4)", "uquotient($, 16)", "(~($))", "sub(0, $)", "hash($)",
                   "__popc($)", "__clz($)", "__ffs($)", "(int)short($)", "int((unsigned char)($))", "int(__brev($))"}),
              {Node::Int});
  case 6:
    return of("($ ? $ : $)", {Node::Bool, Node::Int, Node::Int});
  case 7:
    return of("(int)($)", {Node::Long});
  case 8:
    if (chance(25))
      return of("halfBits($)", {Node::Half});
    return chance(50) ? of(one({"whole($)", "bitsOf($)"}), {Node::Real}) : of("dbits($)", {Node::Double});
  case 9:
    return of(one({"arr[$ & 7]", "lut[$ & 7]", "int(small[$ & 15])", "table[$ & 15]"}), {Node::Int});
  case 10:
    return chance(25) ? of("walk($, $)", {Node::Int, Node::Int}) : of("add($, $)", {Node::Int, Node::Int});
  default:
    return of("in[$ & 4095]", {Node::Int});
  }
}

Node Author::longInteger(unsigned depth) {
  auto two = [&](Node::Kind a, Node::Kind b, const std::string &text) {
    return Node{Node::Long, text, {expression(a, depth), expression(b, depth)}};
  };
  switch (pick(5)) {
  case 0:
    return {Node::Long, one({"(long long)($)", "(long long)(unsigned($))"}), {expression(Node::Int, depth)}};
  case 1:
    return two(Node::Long, Node::Long,
               one({"ladd($, $)", "lmul($, $)", "($ & $)", "($ ^ $)", "lquotient($, $)", "lurest($, $)", "min($, $)"}));
  case 2:
    return two(Node::Long, Node::Int, one({"lshl($, $)", "lushr($, $)", "($ >> ($ & 63))"}));
  case 3:
    return {Node::Long,
            "($ ? $ : $)",
            {expression(Node::Bool, depth), expression(Node::Long, depth), expression(Node::Long, depth)}};
  default:
    return two(Node::Int, Node::Int, "(long long)($) * $");
  }
}

Node Author::real(unsigned depth) {
  auto some = [&](const std::string &text, unsigned count) {
    Node node{Node::Real, text};
    for (unsigned i = 0; i < count; ++i)
      node.children.push_back(expression(Node::Real, depth));
    return node;
  };
  switch (pick(8)) {
  case 7:
    return {Node::Real, "__half2float($)", {expression(Node::Half, depth)}};
  case 6:
    return {Node::Real, one({"float($)", "weights[int($ > 2.0) + (lane & 6)]"}), {expression(Node::Double, depth)}};
  case 0:
  case 1:
    return some(one({"__fadd_rn($, $)", "__fsub_rn($, $)", "__fmul_rn($, $)", "__fdiv_rn($, $)"}), 2);
  case 2:
    return some("fmaf($, $, $)", 3);
  case 3:
    return some(
        one({"fabsf($)", "sqrtf(fabsf($))", "(-($))", "floorf($)", "truncf($)", "rintf($)", "float(double($) / 7.0)"}),
        1);
  case 4:
    return {Node::Real, one({"float($)", "float(unsigned($))"}), {expression(Node::Int, depth)}};
  default:
    return {Node::Real,
            "($ ? $ : $)",
            {expression(Node::Bool, depth), expression(Node::Real, depth), expression(Node::Real, depth)}};
  }
}

Node Author::doubleReal(unsigned depth) {
  auto some = [&](Node::Kind kind, const std::string &text, unsigned count) {
    Node node{Node::Double, text};
    for (unsigned i = 0; i < count; ++i)
      node.children.push_back(expression(kind, depth));
    return node;
  };
  switch (pick(6)) {
  case 0:
  case 1:
    return some(Node::Double, one({"__dadd_rn($, $)", "__dsub_rn($, $)", "__dmul_rn($, $)", "__ddiv_rn($, $)"}), 2);
  case 2:
    return chance(50) ? some(Node::Double, "fma($, $, $)", 3) : some(Node::Real, "double($)", 1);
  case 3:
    return some(Node::Double, one({"fabs($)", "(-($))", "floor($)", "trunc($)", "rint($)", "sqrt(fabs($))"}), 1);
  case 4:
    return some(chance(50) ? Node::Int : Node::Long, "double($)", 1);
  default:
    return {Node::Double,
            "($ ? $ : $)",
            {expression(Node::Bool, depth), expression(Node::Double, depth), expression(Node::Double, depth)}};
  }
}

Node Author::truth(unsigned depth) {
  auto two = [&](Node::Kind kind, const std::string &text) {
    return Node{Node::Bool, text, {expression(kind, depth), expression(kind, depth)}};
  };
  switch (pick(7)) {
  case 0:
  case 1:
    return two(Node::Int, one({"($ < $)", "($ == $)", "($ <= $)", "($ != $)", "(unsigned($) < unsigned($))"}));
  case 2:
    return two(chance(60) ? Node::Real : Node::Double, one({"($ < $)", "($ >= $)", "($ != $)"}));
  case 3:
    if (chance(40))
      return two(Node::Half, one({"__hlt($, $)", "__heq($, $)", "__hgeu($, $)"}));
    return two(Node::Long, one({"($ < $)", "($ == $)"}));
  case 4:
    return two(Node::Bool, one({"($ && $)", "($ || $)", "($ != $)"}));
  case 5:
    return {Node::Bool, one({"(($ & 1) != 0)", "(($ & 3) == 2)", "(($ & 12) != 0)"}), {expression(Node::Int, depth)}};
  default:
    return {Node::Bool, "(!$)", {expression(Node::Bool, depth)}};
  }
}

Node Author::common(unsigned depth) {
  Node a = expression(Node::Common, depth), b = expression(Node::Common, depth);
  return {Node::Common,
          one({"add($, $)", "sub($, $)", "mul($, $)", "($ & $)", "($ ^ $)", "min($, $)"}),
          {std::move(a), std::move(b)}};
}

} // namespace opsight::fuzz
