// The words that requests are made of, in Chinese and English: a clause becomes a row of concepts and numbers, and
// whatever is in no table is returned as not understood, so that nothing is ever dropped.
#pragma once
#include "port/folded_text.h"
#include <cstdint>
#include <string>
#include <vector>

namespace opsight::port {

enum class Concept : uint8_t {
  Filler, // carries no demand of its own: "please", "的", "must"
  Translate, Kernel, Target, Card, Ir, Implementation, Reference,
  Error, Accuracy, Speed, Less, AtLeast, Reach, Number, Size,
  Softmax, Online, ThreePhase, Naive, Algorithm, Not, NotNaive,
  Maximum, Sum, Update, Order, Same, Rescale, Accumulate, SecondPhase, Problem,
  Matmul, Tile, TooLarge, TooSmall, NotEnough, Increase, Shared, BankConflict, Avoid, AvoidConflict,
  Reduce, Stride, Unroll, KeyValue, Matrix, RowMajor, ColumnMajor, Cache,
  First, Then, Before, Guarantee, Optimise, And, But, Because,
};

struct Token {
  Concept what = Concept::Filler;
  Span span{};
  double value = 0;     // Number
  bool ratio = false;   // Number: written as a share ("70%", "七成")
  bool whole = false;   // Number: written as a whole number
  int64_t rows = 0, columns = 0; // Size
  std::string name{};   // Card
};

struct Reading {
  std::vector<Token> tokens;  // without fillers
  std::vector<Span> unknown;  // what no table knows
};

/// Reads one clause. `cards` are the names of the cards known here.
Reading readClause(const FoldedText &folded, Span clause, const std::vector<std::string> &cards);

} // namespace opsight::port
