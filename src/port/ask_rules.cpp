#include "port/ask_rules.h"
#include "port/contains.h"
#include "port/hint.h"
#include <sstream>

namespace opsight::port {

using enum Concept;
using As = Understood::As;

const Token *Clause::find(Concept what) const {
  auto found = std::ranges::find(tokens, what, &Token::what);
  return found == tokens.end() ? nullptr : &*found;
}

static std::string shortest(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

static std::string percent(double value) { return shortest(value * 100) + " %"; }

static bool hasHint(const Asked &asked, std::string_view key) {
  return contains(asked.hints, key, &Hint::key);
}

/// Two bars in one request are a contradiction, whichever is the stricter: only the engineer knows which one is meant.
static Status setBar(std::optional<double> &bar, double value, const std::string &what, const Clause &clause) {
  if (bar && *bar != value)
    return userError("two different bars of " + what + ": " + shortest(*bar) + " and " + shortest(value) + " (\"" +
                         clause.said + "\")",
                     "keep one of them", clause.where);
  bar = value;
  return {};
}

static Result<std::string> translate(const Clause &clause, Asked &asked) {
  const Token *card = clause.find(Card);
  if (!card)
    return "translate the CUDA kernel into the IR of the card (no card is named: --card, the port file's card, else cpu)";
  if (asked.card && *asked.card != card->name)
    return userError("two different cards: " + *asked.card + " and " + card->name, "keep one of them", clause.where);
  asked.card = card->name;
  return "translate the CUDA kernel into the IR of the card " + card->name;
}

static Result<std::string> errorBar(const Clause &clause, Asked &asked) {
  double value = clause.find(Number)->value;
  if (!(value > 0 && value < 1))
    return userError("an error limit of " + shortest(value) + " is not between 0 and 1: \"" + clause.said + "\"",
                     "write, for instance, error < 1e-5", clause.where);
  if (Status set = setBar(asked.maxError, value, "the error", clause); !set)
    return std::unexpected(set.error());
  return "accept only an error of at most " + shortest(value) + " on every well-conditioned case";
}

static Result<std::string> speedBar(const Clause &clause, Asked &asked) {
  const Token &number = *clause.find(Number);
  if (!(number.value > 0 && number.value <= 10))
    return userError("a speed of " + shortest(number.value) + " times the reference is not a bar: \"" + clause.said + "\"",
                     "write a share, for instance 70% or 0.7", clause.where);
  if (Status set = setBar(asked.minSpeed, number.value, "the speed", clause); !set)
    return std::unexpected(set.error());
  return "accept only a speed of at least " + percent(number.value) + " of the reference";
}

static Result<std::string> hint(const Clause &clause, Asked &asked, const std::string &key, const std::string &value,
                                std::string meaning) {
  Result<Hint> made = parseHint(key + "=" + value, clause.where);
  if (!made) {
    opsight::Error error = made.error();
    error.what += ": \"" + clause.said + "\"";
    return std::unexpected(error);
  }
  made->said = clause.said;
  meaning += " (hint " + key + "=" + made->value + ")";
  if (Status added = addHint(asked.hints, std::move(*made)); !added)
    return std::unexpected(added.error());
  return meaning;
}

static Result<std::string> online(const Clause &clause, Asked &asked) {
  return hint(clause, asked, "softmax", "online",
              "three-phase online softmax (local maximum; rescale and sum of exponentials; accumulate)");
}

static Result<std::string> notNaive(const Clause &clause, Asked &asked) {
  return hint(clause, asked, "softmax", "online", "no softmax that exponentiates without a maximum: the online one");
}

static Result<std::string> sameOrder(const Clause &clause, Asked &asked) {
  return hint(clause, asked, "softmax", "max-before-sum", "the maximum is updated before the sum, in the same order everywhere");
}

static Result<std::string> tile(const Clause &clause, Asked &asked) {
  const Token *size = clause.find(Size), *side = clause.find(Number);
  if (size && side)
    return userError("two sizes in one demand: \"" + clause.said + "\"", "keep one of them", clause.where);
  if (side && !side->whole)
    return userError("a tile needs whole numbers: \"" + clause.said + "\"", "write, for instance, 64x64", clause.where);
  auto rows = size ? size->rows : static_cast<int64_t>(side->value);
  auto columns = size ? size->columns : rows;
  return hint(clause, asked, "tile", std::to_string(rows) + "x" + std::to_string(columns),
              "tiles of " + std::to_string(rows) + " queries by " + std::to_string(columns) +
                  " keys for the matrix products");
}

static Result<std::string> stride(const Clause &clause, Asked &asked) {
  const Token &number = *clause.find(Number);
  if (!number.whole)
    return userError("a stride needs a whole number: \"" + clause.said + "\"", {}, clause.where);
  std::string value = std::to_string(static_cast<int64_t>(number.value));
  return hint(clause, asked, "reduce-stride", value, "reductions unrolled with stride " + value);
}

static Result<std::string> keyValue(const Clause &clause, Asked &asked) {
  if (clause.find(RowMajor) && clause.find(ColumnMajor))
    return userError("row-major and column-major in one demand: \"" + clause.said + "\"", "keep one of them",
                     clause.where);
  std::string major = clause.find(RowMajor) ? "row-major" : "column-major";
  bool shared = clause.find(Shared);
  return hint(clause, asked, "kv", (shared ? "shared," : "") + major,
              "K and V kept " + major + (shared ? " in shared memory" : ""));
}

static Result<std::string> accuracyFirst(const Clause &clause, Asked &asked) {
  return hint(clause, asked, "order", "accuracy-first", "nothing is timed before it is right");
}

static Result<std::string> thenSpeed(const Clause &, Asked &) {
  return "among what is right, the fastest wins";
}

static Result<std::string> thenSum(const Clause &, Asked &) { return "the sum of exponentials follows the maximum"; }
static Result<std::string> phaseName(const Clause &, Asked &) { return "names the phases of the online softmax"; }
static Result<std::string> whyNotLarger(const Clause &, Asked &) {
  return "reason: a larger tile does not fit in shared memory";
}
static Result<std::string> whyNotSmaller(const Clause &, Asked &) {
  return "reason: a smaller tile brings bank conflicts";
}
static Result<std::string> whyConflicts(const Clause &, Asked &) { return "reason: to avoid bank conflicts"; }
static Result<std::string> whyAccuracy(const Clause &, Asked &) {
  return "reason: the accuracy is lost in the reduction of the second phase";
}

static const std::vector<Rule> &rules() {
  static const std::vector<Rule> table = {
      {{Translate}, {}, {Kernel, Target, Card, Ir, Implementation, Reference, And}, {}, translate},
      {{Error, Number}, {Less}, {And, Accuracy, Cache}, {}, errorBar},
      {{Error, Number}, {}, {}, {}, errorBar}, // "max error 1e-5"
      {{Accuracy, Number}, {Less, Reach}, {And}, {}, errorBar},
      {{Speed, Number}, {AtLeast, Reach}, {Reference, Implementation, And, Kernel, Card, Target}, {}, speedBar},
      {{}, {Online, ThreePhase}, {Softmax, Algorithm, NotNaive, Implementation, And},
       {{Online, NotNaive}, {ThreePhase, NotNaive}}, online},
      {{NotNaive}, {}, {Softmax, Implementation, Algorithm}, {}, notNaive},
      {{Maximum, Sum, Same}, {}, {Order, Update, And, Guarantee, Cache}, {}, sameOrder},
      {{Maximum, Sum}, {First, Then, Before}, {Update, And, Order}, {{Maximum, Sum}, {First, Sum}, {Maximum, Before}}, sameOrder},
      {{First, Maximum}, {}, {Update}, {}, sameOrder},
      {{Then, Sum}, {}, {Update}, {}, thenSum, As::Demand,
       [](const Asked &asked) { return hasHint(asked, "softmax"); }},
      {{Order, Same}, {}, {Update, And, Guarantee, Cache}, {}, sameOrder, As::Demand,
       [](const Asked &asked) { return hasHint(asked, "softmax"); }},
      {{}, {Maximum, Sum, Accumulate}, {Rescale, And, Update}, {}, phaseName, As::Reason,
       [](const Asked &asked) { return hasHint(asked, "softmax"); }},
      {{Size}, {Tile, Matmul}, {And, AvoidConflict, Cache}, {}, tile},
      {{Tile, Number}, {}, {Matmul, And}, {}, tile},
      {{TooLarge, NotEnough}, {}, {Tile, Shared, And, Because}, {}, whyNotLarger, As::Reason},
      {{TooLarge, Shared, NotEnough}, {}, {Tile, And, Because}, {}, whyNotLarger, As::Reason},
      {{TooSmall, BankConflict}, {}, {Tile, Increase, And, Because}, {}, whyNotSmaller, As::Reason},
      {{Stride, Number}, {Reduce, Unroll}, {And, AvoidConflict, Softmax}, {}, stride},
      {{AvoidConflict}, {}, {Because, And, Shared}, {}, whyConflicts, As::Reason},
      {{KeyValue}, {RowMajor, ColumnMajor}, {Matrix, Cache, Shared, AvoidConflict, Algorithm, And}, {}, keyValue},
      {{Accuracy}, {First, Before}, {Guarantee, Optimise, Speed, Then, And},
       {{Accuracy, Speed}, {Accuracy, Optimise}, {First, Speed}, {Accuracy, Before}}, accuracyFirst},
      {{Then}, {Speed, Optimise}, {Speed, Optimise, And, Guarantee}, {}, thenSpeed, As::Demand,
       [](const Asked &asked) { return hasHint(asked, "order"); }},
      {{Problem}, {SecondPhase, Reduce}, {Accuracy, Error, SecondPhase, Reduce, Because, Softmax}, {}, whyAccuracy,
       As::Reason},
  };
  return table;
}

static bool holds(std::span<const Token> tokens, Concept what) {
  return contains(tokens, what, &Token::what);
}

static bool inOrder(std::span<const Token> tokens, Concept first, Concept second) {
  auto a = std::ranges::find(tokens, first, &Token::what), b = std::ranges::find(tokens, second, &Token::what);
  return a == tokens.end() || b == tokens.end() || a < b;
}

static bool takes(const Rule &rule, std::span<const Token> tokens, const Asked &asked) {
  auto known = [&](const Token &token) {
    return contains(rule.needs, token.what) || contains(rule.anyOf, token.what) ||
           contains(rule.may, token.what);
  };
  auto present = [&](Concept what) { return holds(tokens, what); };
  auto ordered = [&](const auto &pair) { return inOrder(tokens, pair.first, pair.second); };
  // Two numbers or sizes in one clause are two demands; a rule would act on the first and drop the other.
  auto valued = [](const Token &token) { return token.what == Number || token.what == Size || token.what == Card; };
  return std::ranges::all_of(tokens, known) && std::ranges::all_of(rule.needs, present) &&
         (rule.anyOf.empty() || std::ranges::any_of(rule.anyOf, present)) && std::ranges::all_of(rule.ordered, ordered) &&
         std::ranges::count_if(tokens, valued) <= 1 && (!rule.context || rule.context(asked));
}

const Rule *matchRule(std::span<const Token> tokens, const Asked &asked) {
  for (const Rule &rule : rules())
    if (takes(rule, tokens, asked))
      return &rule;
  return nullptr;
}

} // namespace opsight::port
