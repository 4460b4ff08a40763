// Statements, and where they may stand.
#include "fuzz/author.h"
#include <fmt/format.h>

namespace opsight::fuzz {

static constexpr card::Dim3 blocks[] = {{32, 1, 1}, {64, 1, 1}, {128, 1, 1}, {96, 1, 1}, {16, 4, 1},  {8, 8, 1},
                                        {16, 8, 1}, {32, 2, 1}, {4, 4, 4},   {8, 4, 3},  {256, 1, 1}, {16, 16, 1}};
static constexpr card::Dim3 ragged[] = {{48, 1, 1}, {40, 1, 1},  {7, 5, 1}, {1, 33, 1}, {20, 1, 1},
                                        {3, 4, 5},  {100, 1, 1}, {5, 1, 1}, {2, 1, 1}};

Author::Author(uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15 + 1) {
  kernel_.seed = seed;
  unsigned kind = pick(3); // what excludes each other: threads that return, and operations that want whole warps
  mayReturn_ = kind == 0;
  warps_ = kind == 1;
  shared_ = chance(50);
  kernel_.block = !warps_ && chance(25) ? ragged[pick(std::size(ragged))] : blocks[pick(std::size(blocks))];
  kernel_.grid = chance(20) ? card::Dim3{1, 1, 1} : card::Dim3{1 + pick(3), 1, 1};
  kernel_.n = int(2000 + pick(2000));
  kernel_.m = int(pick(100)) - 20;
  budget_ = 3 + pick(14);
}

static const char *const threadNumbers = R"(
  const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int g = blockIdx.x * int(blockDim.x * blockDim.y * blockDim.z) + t, lane = t & 31, warp = t >> 5;
  const int lut[8] = {3, 1, 4, 1, 5, -9, 2, 6};
)";

std::string Author::declarations() {
  std::string text = threadNumbers;
  if (shared_) {
    bool dynamic = chance(30);
    unsigned threads = unsigned(kernel_.block.count());
    kernel_.sharedBytes = dynamic ? threads * 4 : 0;
    text += dynamic ? "  extern __shared__ int sh[];\n" : fmt::format("  __shared__ int sh[{}];\n", threads);
    text += fmt::format("  __shared__ unsigned long long wide[8];\n  for (int i = t; i < 8; i += {})\n"
                        "    wide[i] = i * 0x123456789ull;\n", threads);
    text += "  sh[t] = t * 3;\n  __syncthreads();\n";
  }
  return text + R"(  int u = m * 3 + 1, v = n - m, a = $, b = $, c = $, d = 5;
  long long k = $, l = n;
  float x = $, y = 0.5f;
  double r = reals[t], z = -2.0;
  half h = __float2half_rn(reals[g]), hh = half(0.75f);
  bool p = $, q = false;
  int arr[8];
  short small[16];
  for (int i = 0; i < 8; ++i)
    arr[i] = i * t;
  for (int i = 0; i < 16; ++i)
    small[i] = short(i ^ g);
)";
}

Kernel Author::write() {
  Node body{Node::Statement, "{" + declarations() + "}"};
  body.children = {{Node::Int, one({"in[g]", "in[n - 1 - g]", "in[t / 16]", "t"})},
                   {Node::Int, one({"in[g * 2]", "g", "in[t % 16]"})},
                   {Node::Int, one({"in[hash(g) & 4095]", "lane", "in[m & 31]"})},
                   {Node::Long, one({"g * 3ll", "-1ll"})},
                   {Node::Real, one({"reals[g]", "reals[t % 16]", "float(g)"})},
                   {Node::Bool, one({"(t % 3 == 1)", "(in[g] > 0)", "true"})}};
  if (shared_)
    stored_.push_back("sh[t]");
  while (budget_ > 0) {
    body.text.insert(body.text.size() - 1, "\n$");
    body.children.push_back(statement());
  }
  unsigned place = mostStores; // behind those of other statements
  for (const char *value : {"add(a, mul(b, 3))", "c ^ d ^ dbits(r)", "int(k ^ (k >> 32)) ^ dbits(z)", "int(l ^ (l >> 32))", "bitsOf(x)",
                            "bitsOf(y)", "add(int(p) + 2 * int(q), add(u, v))", "add(halfBits(h), halfBits(hh) << 16)", "add(arr[t & 7], small[g & 15])"}) {
    body.text.insert(body.text.size() - 1, "\n$");
    std::string text = fmt::format("out[{} + g] = $;", place++ * kernel_.threads());
    body.children.push_back({Node::Statement, text, {{Node::Int, value}}});
  }
  kernel_.body = std::move(body);
  return std::move(kernel_);
}

Node Author::statements(unsigned count) {
  Node node{Node::Statement, "{"};
  for (unsigned i = 0; i < count && (i == 0 || budget_ > 0); ++i) {
    node.text += "\n$";
    node.children.push_back(statement());
  }
  node.text += "\n}";
  return node;
}

Node Author::statement() {
  if (budget_ > 0)
    --budget_;
  bool deep = depth_ >= 4 || budget_ == 0;
  if (together_ == Together::Block && shared_ && chance(25))
    return sharedPhase();
  if (together_ != Together::Thread && warps_ && chance(35))
    return warpOperation();
  switch (pick(deep ? 8 : 16)) {
  case 0:
  case 1:
    return store();
  case 2:
    return atomic();
  case 3:
    return leave();
  case 8:
  case 9:
  case 10:
  case 11:
    return branch();
  case 12:
  case 13:
  case 14:
    return loop();
  case 15:
    return choice();
  default:
    return simple();
  }
}

Node Author::simple() {
  if (chance(18))
    return chance(60) ? halfStatement() : vectorLoad();
  switch (pick(together_ == Together::Block ? 8 : 7)) {
  case 0:
    return {Node::Statement, one({"k = $;", "l = $;"}), {expression(Node::Long)}};
  case 1:
    if (chance(40))
      return {Node::Statement, one({"r = $;", "z = $;"}), {expression(Node::Double)}};
    return {Node::Statement, one({"x = $;", "y = $;"}), {expression(Node::Real)}};
  case 2:
    return {Node::Statement, one({"p = $;", "q = $;"}), {expression(Node::Bool)}};
  case 3:
    return {Node::Statement,
            one({"arr[$ & 7] = $;", "small[$ & 15] = short($);"}),
            {expression(Node::Int, 1), expression(Node::Int)}};
  case 7:
    return {Node::Statement, one({"u = $;", "v = $;"}), {expression(Node::Common)}};
  default:
    return {Node::Statement,
            one({"a = $;", "b = $;", "c = $;", "d = $;", "a = add(a, $);", "b = sub(b, $);"}),
            {expression(Node::Int)}};
  }
}

Node Author::store() {
  if (storesLeft_ == 0)
    return simple();
  if (storesLeft_ >= 4 && chance(25))
    return vectorStore();
  std::string where = fmt::format("{} + {}", --storesLeft_ * kernel_.threads(), ownPlace());
  switch (pick(5)) {
  case 0:
    return {Node::Statement, fmt::format("shorts[{}] = short($);", where), {expression(Node::Int)}};
  case 1:
    return {Node::Statement, fmt::format("floats[{}] = plain($);", where), {expression(Node::Real)}};
  case 2:
    stored_.push_back(fmt::format("out[{}]", where));
    return {Node::Statement, fmt::format("out[{0}] = add(out[{0}], $);", where), {expression(Node::Int)}};
  default:
    stored_.push_back(fmt::format("out[{}]", where));
    return {Node::Statement, fmt::format("out[{}] = $;", where), {expression(Node::Int)}};
  }
}

// Each counter is changed by one kind of operation alone, so that their order does not matter.
Node Author::atomic() {
  if (chance(35))
    return longAtomic();
  unsigned kind = pick(6);
  const char *operations[] = {"Add", "Max", "Min", "Xor", "Or", "And"};
  return {Node::Statement,
          fmt::format("atomic{}(&counts[{} + ($ & 7)], $);", operations[kind], 8 * kind),
          {expression(Node::Int, 2), expression(Node::Int)}};
}

// The statements of a branch or loop.
Node Author::inside(Together together) {
  Together outer = together_;
  together_ = together;
  ++depth_;
  Node node = statements(1 + pick(4));
  --depth_;
  together_ = outer;
  return node;
}

Node Author::branch() {
  Node condition = expression(Node::Bool, 2);
  Together within = Together::Thread;
  if (together_ == Together::Block && chance(30)) {
    condition = {Node::Bool, one({"($ & 1)", "($ > 3)", "($ != 2)"}), {expression(Node::Common, 2)}};
    within = Together::Block;
  } else if (together_ != Together::Thread && warps_ && chance(40)) {
    condition = chance(50) ? Node{Node::Bool, one({"(warp & 1)", "(warp == 0)"})}
                           : Node{Node::Bool, "__any_sync(~0u, $)", {expression(Node::Bool, 2)}};
    within = Together::Warp;
  }
  if (within != Together::Thread)
    condition.kind = Node::Common; // for the reducer: what threads do together stays so
  Node node{Node::Statement, "if ($) $", {condition, inside(within)}};
  if (chance(45)) {
    node.text += " else $";
    node.children.push_back(inside(within));
  }
  return node;
}

Node Author::choice() {
  Node node{Node::Statement, "switch ($ & 3) { case 0: $ break; case 1: $ $ default: $ }", {}};
  node.children.push_back(expression(Node::Int, 2));
  loops_.push_back({Together::Block}); // `break` would leave the switch
  for (int i = 0; i < 2; ++i)
    node.children.push_back(inside(Together::Thread));
  node.children.push_back({Node::Statement, one({"break;", ";", "break; case 3: break;"})});
  node.children.push_back(inside(Together::Thread));
  loops_.pop_back();
  return node;
}

/// `text` with each `from` replaced.
static std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// All threads of the block go round together. '#' is the counter.
Node Author::commonLoop() {
  std::string i = fmt::format("i{}", names_++);
  std::string text = one({"for (int # = 0; # < ($ & 3) + 1; ++#) $", "for (int # = 0; # < 4; ++#) $",
                          "for (int # = 6; # > ($ & 3); --#) $", "\nPRAGMA unroll\nfor (int # = 0; # < 3; ++#) $",
                          "\nPRAGMA unroll 1\nfor (int # = 0; # < 5; # += 2) $"});
  Node node{Node::Statement, replaced(replaced(text, "#", i), "PRAGMA", "#pragma")};
  if (text.find("($ &") != std::string::npos)
    node.children.push_back(expression(Node::Common, 2));
  loops_.push_back({Together::Block});
  counters_.push_back(i);
  commonCounters_.push_back(i);
  node.children.push_back(inside(Together::Block));
  commonCounters_.pop_back();
  counters_.pop_back();
  loops_.pop_back();
  return node;
}

// Each thread goes round as often as it likes. '~' is a condition.
Node Author::loop() {
  if (together_ == Together::Block && chance(45))
    return commonLoop();
  std::string i = fmt::format("i{}", names_++);
  std::string text = one({"for (int # = 0; # < ($ & 7); ++#) $", "for (int # = 0; # < ($ & 3) + 1; ++#) $",
                          "for (int # = 6; # > ($ & 3); --#) $", "for (int # = t & 3; # < 9; # += 2) $",
                          "for (int # = lane; # < 40; # += 16) $", "for (int # = 0; # < 5 && ~; ++#) $",
                          "for (int # = 0, e = t & 3; # < e; ++#) $", "{ int # = 0; do $ while (++# < 6 && ~); }"});
  bool hasTruth = text.find('~') != std::string::npos, isDo = text[0] == '{';
  Node node{Node::Statement, replaced(replaced(text, "#", i), "~", "$")};
  if (text.find("($ &") != std::string::npos)
    node.children.push_back(expression(Node::Int, 2));
  if (hasTruth && !isDo)
    node.children.push_back(expression(Node::Bool, 2));
  loops_.push_back({Together::Thread});
  counters_.push_back(i);
  node.children.push_back(inside(Together::Thread));
  if (isDo)
    node.children.push_back(expression(Node::Bool, 2));
  counters_.pop_back();
  loops_.pop_back();
  return node;
}

// break, continue or return, for some of those who are here.
Node Author::leave() {
  if (mayReturn_ && chance(30)) {
    Node node{Node::Statement, "if ($) return;", {expression(Node::Bool, 2)}};
    if (chance(40) && storesLeft_ > 0)
      node = {Node::Statement,
              fmt::format("if ($) {{ out[{} + {}] = $; return; }}", --storesLeft_ * kernel_.threads(), ownPlace()),
              {expression(Node::Bool, 2), expression(Node::Int, 2)}};
    return node;
  }
  if (loops_.empty() || loops_.back().together != together_)
    return simple();
  if (together_ == Together::Block)
    return {Node::Statement, one({"if ($ & 1) break;", "if ($ > 3) continue;"}), {expression(Node::Common, 2)}};
  return {Node::Statement, one({"if ($) break;", "if ($) continue;"}), {expression(Node::Bool, 2)}};
}

std::string Author::sharedPlace() {
  unsigned threads = unsigned(kernel_.block.count());
  if (threads % 16 == 0 && chance(30))
    return fmt::format("t % 16 * {} + t / 16", threads / 16);
  if (threads % 2 == 0 && chance(30))
    return "(t ^ 1)";
  return chance(50) ? "t" : fmt::format("{} - t", threads - 1);
}

// What neighbours pass around among themselves: whether vectors need the barriers depends on their lanes.
static std::string passedAround(unsigned neighbours) {
  return fmt::format("{{ int s = $; __syncthreads(); for (int i = 0; i < 3; ++i) {{ sh[t] = s + i; __syncthreads(); "
                     "s ^= sh[t / {0} * {0} + (t + i + 1) % {0}]; __syncthreads(); }} a += s; }}",
                     neighbours);
}

// Everyone writes between two barriers; reading is free at all other times.
Node Author::sharedPhase() {
  unsigned threads = unsigned(kernel_.block.count());
  stored_.push_back(one({"sh[t]", "sh[t / 2]", "sh[unsigned(a) % THREADS]", "sh[unsigned(u) % THREADS]",
                         "sh[(t + 1) % THREADS]", "sh[THREADS - 1 - t]"}));
  std::string &read = stored_.back();
  if (size_t at = read.find("THREADS"); at != std::string::npos)
    read.replace(at, 7, std::to_string(threads));
  switch (pick(7)) {
  case 6:
    return {Node::Statement,
            one({"{ long long s = $; int w = $; __syncthreads(); atomicAdd(&wide[w & 7], (unsigned long long)s); __syncthreads(); }",
                 "{ long long s = $; int w = $; __syncthreads(); atomicMax(&wide[w & 7], (unsigned long long)s); __syncthreads(); }",
                 "{ long long s = $; int w = $; __syncthreads(); atomicXor(&wide[w & 7], (unsigned long long)s); __syncthreads(); }"}),
            {expression(Node::Long), expression(Node::Int, 2)}};
  case 0:
    return {Node::Statement,
            "{ int s = $; bool w = $; __syncthreads(); if (w) sh[" + sharedPlace() + "] = s; __syncthreads(); }",
            {expression(Node::Int), expression(Node::Bool, 2)}};
  case 1:
    return {
        Node::Statement,
        fmt::format(
            "{{ int s = $; unsigned w = unsigned($) % {}; __syncthreads(); atomicAdd(&sh[w], s); __syncthreads(); }}",
            threads),
        {expression(Node::Int), expression(Node::Int, 2)}};
  case 2:
    return {Node::Statement,
            one({"u = __syncthreads_count($);", "a = __syncthreads_or($);", "v = __syncthreads_and($);"}),
            {expression(Node::Bool)}};
  case 3:
    if (unsigned neighbours = 2u << pick(5); threads % neighbours == 0)
      return {Node::Statement, passedAround(neighbours), {expression(Node::Int)}};
    [[fallthrough]];
  default:
    return {Node::Statement,
            "{ int s = $; __syncthreads(); sh[" + sharedPlace() + "] = s; __syncthreads(); }",
            {expression(Node::Int)}};
  }
}

Node Author::warpOperation() {
  if (chance(8))
    return halfExchange();
  switch (pick(9)) {
  case 0:
    return {Node::Statement,
            one({"a = __shfl_sync(~0u, $, $);", "b = __shfl_sync(~0u, $, $, 16);",
                 "c = __shfl_xor_sync(~0u, $, $ & 31);", "d = __shfl_sync(~0u, $, $, 8);"}),
            {expression(Node::Int, 2), expression(Node::Int, 2)}};
  case 1:
    return {Node::Statement,
            one({"a = __shfl_up_sync(~0u, $, $ & 31);", "b = __shfl_down_sync(~0u, $, $ & 15, 16);",
                 "c = __shfl_down_sync(~0u, $, $ & 31);"}),
            {expression(Node::Int, 2), expression(Node::Common, 2)}};
  case 2:
    return {Node::Statement,
            one({"a = __shfl_xor_sync(~0u, $, 1);", "b = add(b, __shfl_xor_sync(~0u, $, 16));",
                 "c = __shfl_sync(~0u, $, 0);", "d = __shfl_down_sync(~0u, $, 8);", "a = __shfl_up_sync(~0u, $, 2, 8);",
                 "b = __shfl_xor_sync(~0u, $, 4, 8);"}),
            {expression(Node::Int, 2)}};
  case 3:
    return {Node::Statement,
            one({"x = __shfl_xor_sync(~0u, $, 2);", "y = __shfl_down_sync(~0u, $, 1);"}),
            {expression(Node::Real, 2)}};
  case 4:
    return {Node::Statement,
            one({"a = __any_sync(~0u, $);", "b = __all_sync(~0u, $);", "c = int(__ballot_sync(~0u, $));",
                 "d = __popc(__ballot_sync(~0u, $));", "p = __any_sync(~0u, $);"}),
            {expression(Node::Bool, 2)}};
  case 5:
    return {Node::Statement,
            one({"a = int(__match_any_sync(~0u, $ & 3));", "b = int(__reduce_add_sync(~0u, unsigned($)));",
                 "c = __reduce_min_sync(~0u, $);", "d = int(__reduce_max_sync(~0u, unsigned($)));",
                 "a = int(__reduce_xor_sync(~0u, unsigned($)));"}),
            {expression(Node::Int, 2)}};
  case 6:
    return {Node::Statement,
            "{ bool w = $; unsigned s = __ballot_sync(~0u, w); if (w) a = __shfl_sync(s, $, __ffs(s) - 1); }",
            {expression(Node::Bool, 2), expression(Node::Int, 2)}};
  case 7:
    return {Node::Statement,
            "{ bool w = $; unsigned s = __ballot_sync(~0u, w); if (w) { b = int(__reduce_add_sync(s, unsigned($))); "
            "__syncwarp(s); c = int(__ballot_sync(s, $)); } }",
            {expression(Node::Bool, 2), expression(Node::Int, 2), expression(Node::Bool, 2)}};
  default:
    return {Node::Statement,
            one({"k = __shfl_sync(~0u, $, 3);", "l = __shfl_xor_sync(~0u, $, 8);"}),
            {expression(Node::Long, 2)}};
  }
}

} // namespace opsight::fuzz
