// The cases that break attention kernels, one row each; the numbers S…, N… and V… are those of public failure reports.
#include "base/text.h"
#include "operator/attention/attention.h"

namespace opsight::ops::attention {
namespace {

struct CaseRow {
  const char *sizes; // "H=2 L=65 S=65 D=64": what is left out is B=1 H=1 Hkv=H S=L D=64 Dv=D
  const char *distribution;
  const char *note;
  const char *traits = ""; // "mask=sliding mask_parameter=16", for cases with a mask
  double scale = 0;        // 0: 1/sqrt(D)
};

const CaseRow always[] = {
    {"H=2 L=64", "normal", "a whole tile: the easy case, kept so that a failure elsewhere can be told apart"},
    {"H=2 L=128", "normal", "two whole tiles"},
    {"H=2 L=63", "normal", "V22: one short of a tile"},
    {"H=2 L=65", "normal", "V22, S16: one past a tile"},
    {"H=2 L=127", "scaled", "V22: one short of two tiles"},
    {"H=2 L=129", "shifted", "V22: one past two tiles"},
    {"L=1", "normal", "one query, one key: the output is the value"},
    {"B=2 H=3 L=2", "normal", "shorter than a warp"},
    {"H=2 L=31", "normal", "one short of a warp"},
    {"H=2 L=33", "normal", "one past a warp"},
    {"H=2 L=9", "normal", "S16: a tail of nine rows"},
    {"L=1001 S=503", "normal", "S16: two primes, more queries than keys"},
    {"L=26 S=95", "normal", "S17: no side of the scores fits a tile"},
    {"B=2 H=2 L=5 S=70", "normal", "S04: fewer queries than keys"},
    {"B=2 H=2 L=70 S=5", "normal", "S04, S05: more queries than keys"},
    {"H=4 L=1 S=257", "normal", "decoding: one query, many keys"},
    {"H=2 L=192 S=1", "normal", "one key: every output is its value"},
    {"B=3 H=5 L=40 S=50", "normal", "odd counts of batches and heads"},
    {"B=2 H=4 L=256", "normal", "many whole tiles and blocks"},
    {"L=319", "long-tailed", "long tails in every operand"},
    {"H=2 L=100", "scaled", "larger scores and values: shows a missing normalisation"},
    {"H=2 L=80 S=200", "shifted", "operands with a mean: shows sums that lose their small terms"},
    {"H=2 L=130", "peaked", "S35: nearly all weight on one key"},
    {"L=1023", "peaked", "S35 on a long row whose tail is one short"},
    {"L=64", "identity", "S35: q = k = 16 I, so the output is v and no average"},
    {"H=2 L=96 S=160", "constant", "equal scores: the output is the mean of the values"},
    {"L=70 S=300", "rising", "every tile has a new maximum: older sums must be rescaled"},
    {"L=70 S=300", "falling", "the first tile has the maximum: later tiles must keep it"},
    {"L=66 S=260", "steep", "N03: scores that rise to 260 and more, so exp overflows unless the maximum is taken off"},
    {"L=65 S=257", "late-maximum", "the largest score is the last key's, alone in its tile"},
    {"H=2 L=65 S=130", "exact-large", "N03: exact scores in the hundreds; a naive softmax overflows"},
    {"L=128 S=128", "exact-large", "N03 on whole tiles"},
    {"H=2 L=70 S=130", "see-saw", "maxima of neighbouring rows lie 112 apart: one row's maximum is of no use to the next"},
    {"H=2 L=67", "all-negative", "N05: all scores near -100; a maximum that starts at 0 leaves no sum"},
    {"H=2 L=33 S=100", "low-scores", "S08: genuine scores of -65536, below every finite sentinel"},
    {"H=2 L=90", "outliers", "outliers in every operand"},
    {"L=3 S=4096", "ones", "S15, S34: equal weights on ones give exactly one on long rows"},
    {"L=2 S=8191", "normal", "S34: a long row, one short of a tile"},
    {"L=5 S=4000", "key-index", "S34: equal weights on the key's number tell which keys were read"},
    {"H=4 Hkv=2 L=50", "head-index", "S06: grouped heads repeat, they don't tile"},
    {"B=2 H=6 Hkv=2 L=33 S=65", "normal", "S06: three query heads a key-value head"},
    {"H=16 Hkv=1 L=17 S=65", "normal", "S26: one key-value head for all"},
    {"H=8 Hkv=2 L=1 S=300", "head-index", "S26: decoding with grouped heads"},
    {"H=4 Hkv=1 L=8 S=36 D=32 Dv=24", "normal", "S20: a value narrower than the query; the scale follows D"},
    {"H=2 L=65 D=64 Dv=96", "normal", "S20: a value wider than the query"},
    {"H=2 L=65 D=32", "normal", "D = 32"},
    {"H=2 L=70 D=128", "normal", "D = 128"},
    {"H=2 L=65 D=1", "normal", "S18: D = 1"},
    {"H=2 L=65 D=3", "normal", "S18: D = 3, no vector width divides it"},
    {"H=2 L=64 D=46", "normal", "S18, T26: D = 46, rows are not aligned to 16 bytes"},
    {"H=2 L=65 D=63", "normal", "S18: D = 63"},
    {"H=2 L=65 D=80", "normal", "S18: D = 80"},
    {"H=2 L=64 D=100", "normal", "S18: D = 100"},
    {"L=33 S=70 D=129", "normal", "S19: D past 128"},
    {"L=33 S=65 D=200", "normal", "S18: D = 200"},
    {"L=33 S=70 D=256", "normal", "S19: D = 256"},
    {"L=30 S=70 D=16", "exact-large", "large exact scores with a small D"},
    {"H=2 L=65", "normal", "a scale that is not 1/sqrt(D)", "", 0.1},
    {"L=40 S=64", "normal", "a negative scale turns the order of scores around", "", -0.125},
    {"B=3 H=1031 L=1 S=1 D=8", "normal", "S32: thousands of blocks for one element each"},
    {"H=65537 L=1 S=1 D=1", "normal", "S32: heads past the 65535 that a grid's y and z hold in CUDA"},
    {"B=0 H=2 L=4 D=8", "normal", "S13: no batch, an empty output"},
    {"H=2 L=0 S=8", "normal", "S13: no query, an empty output"},
    {"H=2 L=3 S=0", "normal", "S13: no key, so every output is zero"},
    {"L=65 S=130", "large-normal", "ill-conditioned: logits of hundreds that float cannot hold exactly"},
    {"L=33 S=70", "offset-thousand", "ill-conditioned: 1000 added to every score"},
};

const CaseRow causal[] = {
    {"L=2 S=5", "key-index", "S04: which keys each row saw, more keys than queries"},
    {"L=5 S=2", "key-index", "S04, S05: which keys each row saw, more queries than keys"},
    {"L=1 S=8", "key-index", "S04: one query and its anchor"},
    {"H=2 L=100 S=164", "normal", "S04: the diagonal crosses tiles, one tile of extra keys"},
    {"H=2 L=164 S=100", "normal", "S05: the diagonal crosses tiles, one tile of extra queries"},
    {"H=2 L=200", "peaked", "the diagonal through several tiles, all weight on one visible key"},
    {"H=2 L=128", "rising", "the largest scores lie beyond the diagonal"},
};

const CaseRow masked[] = {
    {"H=2 L=65 S=70", "normal", "a random mask in the full shape", "mask=random"},
    {"B=2 H=2 L=20 S=30", "normal", "S24: a mask that broadcasts over heads and queries", "mask=random mask_shape=B,1,1,S"},
    {"B=2 H=2 L=20 S=30", "normal", "S24: one row for all", "mask=random mask_shape=1,1,1,S"},
    {"B=2 H=3 L=20 S=30", "normal", "S24: a mask a head, for all batches", "mask=random mask_shape=1,H,L,S"},
    {"B=2 H=3 L=33 S=65", "normal", "S24: a plain matrix", "mask=random mask_shape=L,S"},
    {"L=1 S=128", "key-index", "S09: the first 64 keys are masked, whole tiles of 16, 32 and 64",
     "mask=padding-left mask_parameter=64"},
    {"H=2 L=70 S=200", "normal", "S09: the first tiles are masked for every row", "mask=padding-left mask_parameter=130"},
    {"L=140 S=140", "normal", "S09: a sliding window of 16 keys", "mask=sliding mask_parameter=16"},
    {"H=2 L=64 S=64", "normal", "S01: every third row sees nothing and is zero", "mask=rows-empty"},
    {"L=128 S=64", "normal", "S10: the first tile of rows sees nothing", "mask=tile-empty mask_parameter=64"},
    {"H=2 L=33 S=40", "normal", "S01: nobody sees anything", "mask=keep-none"},
    {"H=2 L=33 S=40", "normal", "a mask that keeps all", "mask=keep-all"},
    {"H=2 L=160 S=160 D=80", "normal", "S27: packed sequences with rows left out", "mask=blocks mask_parameter=37"},
    {"H=12 L=1 S=1024", "thousand-beyond", "S24: a mask past key 512, and values of 1000 behind it",
     "mask=padding-right mask_parameter=513 mask_shape=B,1,1,S"},
    {"B=3 H=2 L=1 S=32", "thousand-beyond", "S36: a cache longer than what counts, by batch",
     "mask=padding-right mask_parameter=17 mask_shape=B,1,1,S"},
    {"L=7 S=130", "normal", "only the last key is visible", "mask=last-only"},
    {"L=2 S=64", "low-scores", "S08: masked keys must not beat genuine scores of -65536", "mask=random"},
    {"L=1 S=7", "normal", "S25: seven keys, no aligned row", "mask=random"},
    {"L=1 S=8", "normal", "S25: eight keys, an aligned row", "mask=random"},
    {"L=63 S=95", "normal", "S17: a mask smaller than the tiles", "mask=random"},
    {"H=2 L=66 S=130", "exact-large", "large exact scores under a mask", "mask=random"},
};

const CaseRow biased[] = {
    {"H=2 L=65 S=70", "normal", "a bias for every score", "mask=random mask_values=bias"},
    {"L=4 S=4 D=2", "normal", "S02: 0 and 1 are numbers to add, not a choice of keys", "mask=random mask_values=zero-one"},
    {"H=2 L=40 S=40", "normal", "S28: -1e9 where others write minus infinity", "mask=random mask_values=finite-sentinel"},
    {"H=4 L=50 S=90", "normal", "a bias that grows with distance", "mask=keep-all mask_values=alibi mask_shape=1,1,L,S"},
    {"L=1 S=27", "normal", "S25: a bias on an unaligned row", "mask=random mask_values=bias mask_shape=1,1,1,S"},
};

void readSizes(const char *text, Symbols &symbols) {
  for (const std::string &part : split(text, ' ')) {
    size_t equals = part.find('=');
    symbols[part.substr(0, equals)] = std::stoll(part.substr(equals + 1));
  }
}

Case caseOf(const CaseRow &row, const Options &options, uint64_t seed) {
  Case c;
  c.options = options;
  c.distribution = row.distribution;
  c.seed = seed;
  c.own = true;
  c.note = row.note;
  if (row.scale != 0)
    c.scalars["scale"] = row.scale;
  Symbols &s = c.symbols;
  s = {{"B", 1}, {"H", 1}, {"D", 64}};
  readSizes(row.sizes, s);
  s.try_emplace("Hkv", s["H"]);
  s.try_emplace("S", s["L"]);
  s.try_emplace("Dv", s["D"]);
  c.name = std::string(row.distribution) + " " + row.sizes;
  for (const std::string &part : split(row.traits, ' '))
    if (size_t equals = part.find('='); equals != part.npos) {
      c.traits[part.substr(0, equals)] = part.substr(equals + 1);
      c.name += (part.starts_with("mask_shape") ? " mask " : " ") + part.substr(equals + 1);
    }
  if (row.scale != 0)
    c.name += row.scale < 0 ? " negative scale" : " own scale";
  return c;
}

/// Under a mask, a case whose data say nothing of one keeps about seven keys in ten.
template <class Table> void add(const Table &table, const Options &options, std::vector<Case> &all) {
  for (const CaseRow &row : table)
    all.push_back(caseOf(row, options, all.size() + 1));
}

} // namespace

std::vector<Case> cases(const Options &options) {
  auto is = [&](const char *name, const char *value) {
    auto found = options.find(name);
    return found != options.end() && found->second == value;
  };
  std::vector<Case> all;
  add(always, options, all);
  if (is("causal", "top-left") || is("causal", "bottom-right"))
    add(causal, options, all);
  if (is("mask", "bool") || is("mask", "additive"))
    add(masked, options, all);
  if (is("mask", "additive"))
    add(biased, options, all);
  return all;
}

} // namespace opsight::ops::attention
