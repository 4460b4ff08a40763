// How far a written tensor is from the right one, element by element, in double precision.
#pragma once
#include "judge/judge.h"

namespace opsight::judge {

struct Comparison {
  double error = 0;       // the largest; infinity for NaN, infinity or an element never written
  double rms = 0;         // root mean square over elements with a finite error
  double spread = 0;      // share of elements whose error is over `spreadFrom`
  int64_t worst = -1;     // flat index of the largest error
  bool worstUnwritten = false;
  int64_t unwritten = 0;  // elements that still hold the poison
  int64_t unequal = 0;    // elements of integer type that are not the right ones: no error of theirs is small
  int64_t notFinite = 0;  // NaN or infinity where the reference is finite, or the reverse
  bool constant = false;  // one value everywhere where the reference varies
};

/// What one output should be; `exact` is null unless its type is an integer's, `magnitudes` are those of its rows or none.
struct Wanted {
  std::span<const double> values;
  const ops::Tensor *exact = nullptr;
  std::span<const double> magnitudes{};
  double magnitudeAt(size_t n) const { return magnitudes.empty() ? 1 : magnitudes[n / (values.size() / magnitudes.size())]; }
};
Wanted wantedOf(const ops::Problem &problem, const std::string &output);

/// Elements of `got` that still hold the poison.
int64_t unwrittenIn(const ops::Tensor &got, uint32_t poison);

/// `poison` is the word that filled the buffer before the run, none where it began with data. Shapes are equal.
Comparison compare(const ops::Tensor &got, const Wanted &want, std::optional<uint32_t> poison, double spreadFrom = 0);

/// Row-major index of flat position `at` in `shape`.
std::vector<int64_t> indexOf(int64_t at, const std::vector<int64_t> &shape);

} // namespace opsight::judge
