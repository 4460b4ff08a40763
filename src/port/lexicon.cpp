#include "port/lexicon.h"
#include "port/lexicon_words.h"
#include "port/number_words.h"
#include <algorithm>
#include <cctype>

namespace opsight::port {

static bool wordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
static bool gap(char c) { return c == ' ' || c == '-' || c == '_'; }

/// Bytes of `text` that `phrase` matches from its start; 0 for no match. Latin phrases match whole words only.
static size_t matchPhrase(std::string_view text, std::string_view phrase) {
  size_t at = 0;
  for (char c : phrase) {
    if (c == ' ') {
      while (at < text.size() && gap(text[at]))
        ++at;
    } else if (at < text.size() && text[at] == c)
      ++at;
    else
      return 0;
  }
  bool cutsWord = wordByte(phrase.back()) && at < text.size() && wordByte(text[at]);
  return cutsWord ? 0 : at;
}

struct Match {
  Concept what = Concept::Filler;
  size_t length = 0;
};

static Match longestPhrase(std::string_view text) {
  Match best;
  for (const Words &words : lexiconWords())
    for (std::string_view phrase : words.phrases)
      if (phrase[0] == text[0])
        if (size_t length = matchPhrase(text, phrase); length > best.length)
          best = {words.what, length};
  return best;
}

static std::optional<Token> cardName(std::string_view text, const std::vector<std::string> &cards) {
  std::optional<Token> best;
  for (const std::string &name : cards)
    if (size_t length = matchPhrase(text, name); length && (!best || name.size() > best->name.size()))
      best = Token{.what = Concept::Card, .span = {0, length}, .name = name};
  return best;
}

static std::optional<Token> numberToken(std::string_view text) {
  std::optional<WrittenNumber> number = readNumber(text);
  if (!number)
    return std::nullopt;
  // "64x64x32" is no size of ours.
  std::string_view rest = text.substr(number->length);
  if (number->rows && rest.size() > 1 && (rest[0] == 'x' || rest[0] == '*') && rest[1] >= '0' && rest[1] <= '9')
    return std::nullopt;
  Token token{.what = number->rows ? Concept::Size : Concept::Number, .span = {0, number->length}};
  token.value = number->value;
  token.ratio = number->ratio;
  token.whole = number->whole;
  token.rows = number->rows;
  token.columns = number->columns;
  return token;
}

static std::optional<Token> tokenAt(std::string_view text, bool startsWord, const std::vector<std::string> &cards) {
  if (!startsWord)
    return std::nullopt;
  Match phrase = longestPhrase(text);
  std::optional<Token> number = numberToken(text);
  std::optional<Token> card = cardName(text, cards);
  if (card && card->span.end > phrase.length)
    return card;
  if (number && number->span.end >= phrase.length)
    return number;
  if (phrase.length)
    return Token{.what = phrase.what, .span = {0, phrase.length}};
  return std::nullopt;
}

/// Where the unknown piece at `at` ends: a whole Latin word, or one character.
static size_t unknownEnd(std::string_view text, size_t at) {
  size_t end = at + 1;
  if (wordByte(text[at]))
    while (end < text.size() && wordByte(text[end]))
      ++end;
  else
    while (end < text.size() && (text[end] & 0xC0) == 0x80)
      ++end;
  return end;
}

static void addUnknown(std::vector<Span> &unknown, Span span) {
  if (!unknown.empty() && unknown.back().end == span.begin)
    unknown.back().end = span.end;
  else
    unknown.push_back(span);
}

static void joinCompounds(std::vector<Token> &tokens) {
  for (const Compound &compound : compounds())
    for (size_t i = 0; i + compound.parts.size() <= tokens.size(); ++i) {
      bool same = std::ranges::equal(std::span(tokens).subspan(i, compound.parts.size()), compound.parts, {},
                                     &Token::what);
      if (!same)
        continue;
      tokens[i].what = compound.whole;
      tokens[i].span.end = tokens[i + compound.parts.size() - 1].span.end;
      tokens.erase(tokens.begin() + static_cast<long>(i) + 1,
                   tokens.begin() + static_cast<long>(i + compound.parts.size()));
    }
}

Reading readClause(const FoldedText &folded, Span clause, const std::vector<std::string> &cards) {
  std::string_view text = std::string_view(folded.text).substr(0, clause.end);
  Reading reading;
  for (size_t at = clause.begin; at < clause.end;) {
    // A hyphen joins words ("4-stride"); in front of a number that nothing precedes it is a sign, which no bar has.
    bool betweenWords = text[at] == ' ' || (gap(text[at]) && at > clause.begin && wordByte(text[at - 1]));
    std::optional<Token> token;
    if (!betweenWords) {
      bool startsWord = at == clause.begin || !wordByte(text[at - 1]) || !wordByte(text[at]) ||
                        (std::isdigit(static_cast<unsigned char>(text[at - 1])) == 0) !=
                            (std::isdigit(static_cast<unsigned char>(text[at])) == 0);
      token = tokenAt(text.substr(at), startsWord, cards);
    }
    if (betweenWords) {
      ++at;
      continue;
    }
    if (!token) {
      size_t end = unknownEnd(text, at);
      addUnknown(reading.unknown, {at, end});
      at = end;
      continue;
    }
    size_t length = token->span.end;
    token->span = {at, at + length};
    if (token->what != Concept::Filler)
      reading.tokens.push_back(*token);
    at += length;
  }
  joinCompounds(reading.tokens);
  return reading;
}

} // namespace opsight::port
