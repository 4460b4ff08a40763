#include "port/ask.h"
#include "base/text.h"
#include "port/ask_rules.h"
#include <algorithm>

namespace opsight::port {

namespace {

using Tokens = std::span<const Token>;

bool splits(Concept what) {
  using enum Concept;
  return what == And || what == But || what == Then || what == Because;
}

/// Cuts a clause into the fewest pieces that rules take, at the words that join demands. A piece that says "not" binds
/// what follows it ("not A and B"), so only a contrast ends it.
class Pieces {
public:
  Pieces(const Asked &asked) : asked(asked) {}
  bool find(Tokens rest, std::vector<Tokens> &pieces) const;

private:
  static bool mayEnd(Tokens piece, Concept joint);
  const Asked &asked;
};

bool Pieces::mayEnd(Tokens piece, Concept joint) {
  auto negates = [](const Token &token) { return token.what == Concept::Not || token.what == Concept::NotNaive; };
  return joint == Concept::But || !std::ranges::any_of(piece, negates);
}

bool Pieces::find(Tokens rest, std::vector<Tokens> &pieces) const {
  while (!rest.empty() && (rest[0].what == Concept::And || rest[0].what == Concept::But ||
                           (rest[0].what == Concept::Because && rest.size() > 1)))
    rest = rest.subspan(1);
  if (rest.empty())
    return true;
  for (size_t length = rest.size(); length > 0; --length) {
    bool atJoint = length == rest.size() || splits(rest[length].what);
    if (!atJoint || !matchRule(rest.first(length), asked))
      continue;
    if (length < rest.size() && !mayEnd(rest.first(length), rest[length].what))
      continue;
    pieces.push_back(rest.first(length));
    if (find(rest.subspan(length), pieces))
      return true;
    pieces.pop_back();
  }
  return false;
}

class Understanding {
public:
  Understanding(const Placed &text, const std::vector<std::string> &cards, Asked &asked)
      : text(text), folded(fold(text.text)), cards(cards), asked(asked) {}
  Status run();

private:
  std::string original(Span span) const {
    size_t begin = folded.origin[span.begin], end = folded.origin[span.end];
    return std::string(trim(std::string_view(text.text).substr(begin, end - begin)));
  }
  SourcePlace placeOf(Span span) const;
  Status clause(Span span);
  std::unexpected<Error> refuse(Span clause, Span part, const std::string &why) const;

  const Placed &text;
  FoldedText folded;
  const std::vector<std::string> &cards;
  Asked &asked;
};

/// The clause's own place: a port file's sentence starts behind one quote sign.
SourcePlace Understanding::placeOf(Span span) const {
  SourcePlace where = text.where;
  unsigned column = columnOf(text.text, folded.origin[span.begin]);
  bool oneLine = text.text.find('\n') == std::string::npos;
  if (where.line && oneLine)
    where.column += column;
  else if (!where.line && !where.file.empty())
    where.line = 1, where.column = column;
  return where;
}

std::unexpected<Error> Understanding::refuse(Span clause, Span part, const std::string &why) const {
  std::string shown = original(part), whole = original(clause);
  std::string what = "not understood: \"" + shown + "\"";
  if (shown != whole)
    what += " in \"" + whole + "\"";
  what += " (character " + std::to_string(columnOf(text.text, folded.origin[part.begin])) + " of the request)" + why;
  return userError(what,
                   "Nothing is dropped silently: reword it, leave it out, or say it as a hint "
                   "(--hint softmax|tile|reduce-stride|kv|order=VALUE, --max-error, --min-speed).",
                   placeOf(part));
}

Status Understanding::clause(Span span) {
  Reading reading = readClause(folded, span, cards);
  if (!reading.unknown.empty())
    return refuse(span, reading.unknown.front(), "");
  std::vector<Tokens> pieces;
  if (!Pieces(asked).find(reading.tokens, pieces))
    return refuse(span, span, "; its words are known, but not as one demand");
  for (Tokens piece : pieces) {
    const Rule *rule = matchRule(piece, asked);
    Span whole = pieces.size() == 1 ? span : Span{piece.front().span.begin, piece.back().span.end};
    Clause clause{piece, original(whole), placeOf(whole)};
    Result<std::string> meaning = rule->apply(clause, asked);
    if (!meaning)
      return std::unexpected(meaning.error());
    asked.parts.push_back({rule->as, clause.said, *meaning});
  }
  return {};
}

Status Understanding::run() {
  size_t before = asked.parts.size();
  for (Span span : clauses(folded))
    if (Status understood = clause(span); !understood)
      return understood;
  if (asked.parts.size() == before)
    return userError("nothing is asked in \"" + text.text + "\"", "say what is wanted, or leave it out", text.where);
  return {};
}

} // namespace

Status understand(const Placed &text, const std::vector<std::string> &cards, Asked &asked) {
  return Understanding(text, cards, asked).run();
}

} // namespace opsight::port
