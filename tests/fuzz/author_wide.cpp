// Half precision, vectors in memory, and atomic operations on words of 64 bits.
#include "fuzz/author.h"
#include <fmt/format.h>

namespace opsight::fuzz {

Node Author::halfLeaf() {
  if (chance(15)) // any bits: small numbers without a leading one, and what is no number
    return {Node::Half, fmt::format("reinterpret_cast<const half *>(in)[{}]", place())};
  if (chance(25))
    return {Node::Half, fmt::format("__float2half_rn(reals[{}])", place())};
  return {Node::Half, one({"h", "hh", "h", "hh", "half(1.5f)", "half(-0.25f)", "half(60000.0f)", "half(6e-8f)"})};
}

Node Author::half(unsigned depth) {
  auto some = [&](Node::Kind kind, const std::string &text, unsigned count) {
    Node node{Node::Half, text};
    for (unsigned i = 0; i < count; ++i)
      node.children.push_back(expression(kind, depth));
    return node;
  };
  switch (pick(7)) {
  case 0:
  case 1:
    return some(Node::Half, one({"__hadd_rn($, $)", "__hsub_rn($, $)", "__hmul_rn($, $)", "__hdiv($, $)"}), 2);
  case 2:
    return some(Node::Half, one({"__hmin($, $)", "__hmax($, $)"}), 2);
  case 3:
    return some(Node::Half, "__hfma($, $, $)", 3);
  case 4:
    return some(Node::Half, one({"__habs($)", "__hneg($)", "hsqrt(__habs($))", "hfloor($)", "htrunc($)", "hrint($)"}),
                1);
  case 5:
    return chance(50) ? some(Node::Real, "__float2half_rn($)", 1)
                      : some(Node::Int, one({"__int2half_rn($)", "__uint2half_rn(unsigned($))"}), 1);
  default:
    return {Node::Half,
            "($ ? $ : $)",
            {expression(Node::Bool, depth), expression(Node::Half, depth), expression(Node::Half, depth)}};
  }
}

Node Author::halfStatement() {
  if (chance(30))
    return {Node::Statement,
            one({"{ half2 w = __hfma2(half2($, hh), half2(h, $), half2(hh, h)); h = w.x; hh = w.y; }",
                 "{ half2 w = __hadd2_rn(half2($, hh), half2(h, $)); h = w.y; hh = w.x; }",
                 "{ half2 w = __hmul2_rn(half2($, hh), half2(h, $)); h = w.x; hh = w.y; }"}),
            {expression(Node::Half, 2), expression(Node::Half, 1)}};
  return {Node::Statement, one({"h = $;", "hh = $;", "h = __hadd_rn(h, $);"}), {expression(Node::Half)}};
}

Node Author::halfExchange() {
  return {Node::Statement,
          one({"h = __shfl_xor_sync(~0u, $, 4);", "hh = __shfl_sync(~0u, $, 9);", "h = __shfl_down_sync(~0u, $, 2);"}),
          {expression(Node::Half, 2)}};
}

// Which vector of four to read in an input, always below a quarter of `inputs`.
std::string Author::vectorPlace() {
  if (chance(20) && !counters_.empty())
    return counters_[pick(unsigned(counters_.size()))] + one({" + t", " * 16 + t % 16", " * 3"});
  return one({"g", "t", "t / 2", "t ^ 1", "t * 2", "63 - t % 64", "threadIdx.x", "blockIdx.x * 7 + t", "lane",
              "t % 16 * 8 + t / 16", "(u & 255) + t", "(u & 511)", "(hash(g) & 1023)", "(a & 1023)", "blockIdx.x",
              "warp"});
}

std::string Author::vectorElement(const char *vectors) {
  return fmt::format("{}[{}].{}", vectors, vectorPlace(), one({"x", "y", "z", "w"}));
}

Node Author::vectorLoad() {
  const std::string text = one(
      {"{ float4 w = reinterpret_cast<const float4 *>(reals)[@]; x = __fadd_rn(w.x, w.w); y = fmaf(w.y, w.z, $); }",
       "{ float4 w = reinterpret_cast<const float4 *>(reals)[@]; x = p ? w.y : w.z; y = __fmul_rn(w.x, $); }",
       "{ float2 w = reinterpret_cast<const float2 *>(reals)[@]; x = w.y; y = __fsub_rn(w.x, $); }",
       "{ int4 w = reinterpret_cast<const int4 *>(in)[@]; a = add(w.x, w.y); b = w.z ^ w.w; x = $; }",
       "{ int2 w = reinterpret_cast<const int2 *>(in)[@]; c = add(w.x, mul(w.y, 5)); y = $; }",
       "{ uchar4 w = reinterpret_cast<const uchar4 *>(bytes)[@]; d = w.x + 3 * w.y - w.z * w.w; x = $; }",
       "{ double2 w = reinterpret_cast<const double2 *>(reals)[@]; r = w.x; z = __dadd_rn(w.y, double($)); }",
       "{ half2 w = reinterpret_cast<const half2 *>(reals)[@]; h = w.x; hh = __hadd_rn(w.y, __float2half_rn($)); }"});
  size_t at = text.find('@');
  return {Node::Statement, text.substr(0, at) + vectorPlace() + text.substr(at + 1), {expression(Node::Real, 1)}};
}

// Elements of their own for each thread, in the room of four stores.
Node Author::vectorStore() {
  unsigned first = (storesLeft_ - 4) * kernel_.threads();
  if (first % 4 != 0)
    return simple();
  storesLeft_ -= 4;
  std::string own = ownPlace();
  switch (pick(5)) {
  case 0:
    return {
        Node::Statement,
        fmt::format("reinterpret_cast<float4 *>(floats)[{} + {}] = make_float4(plain($), plain($), 1.0f, plain($));",
                    first / 4, own),
        {expression(Node::Real, 1), expression(Node::Real, 1), expression(Node::Real, 2)}};
  case 1:
    return {Node::Statement,
            fmt::format(
                "reinterpret_cast<short4 *>(shorts)[{} + {}] = make_short4(short($), short(halfBits($)), 3, short($));",
                first / 4, own),
            {expression(Node::Int, 1), expression(Node::Half, 1), expression(Node::Int, 2)}};
  case 2:
    stored_.push_back(fmt::format("out[{} + 2 * ({})]", first + 1, own));
    return {Node::Statement,
            fmt::format("reinterpret_cast<int2 *>(out)[{} + {}] = make_int2($, $);", first / 2, own),
            {expression(Node::Int, 2), expression(Node::Int, 2)}};
  default:
    stored_.push_back(fmt::format("out[{} + 4 * ({})]", first + pick(4), own));
    return {Node::Statement,
            fmt::format("reinterpret_cast<int4 *>(out)[{} + {}] = make_int4($, $, t, $);", first / 4, own),
            {expression(Node::Int, 2), expression(Node::Int, 1), expression(Node::Int, 1)}};
  }
}

// As of 32 bits, each counter is changed by one kind of operation alone.
Node Author::longAtomic() {
  unsigned kind = pick(8);
  const char *operations[] = {"Add", "Max", "Min", "Xor", "Or", "And", "Max", "Min"};
  bool isSigned = kind >= 6;
  return {Node::Statement,
          fmt::format("atomic{}({}&longs[{} + ($ & 7)], ({})($));", operations[kind], isSigned ? "(long long *)" : "",
                      8 * kind, isSigned ? "long long" : "unsigned long long"),
          {expression(Node::Int, 2), expression(Node::Long)}};
}

} // namespace opsight::fuzz
