// Known ways to get a row of attention wrong, each computed in double precision, so that a wrong output can be compared
// with what a fault would have written.
#pragma once
#include "operator/attention/attention.h"

namespace opsight::ops::attention {

struct Fault {
  const char *phase; // of Diagnosis
  std::string what;  // "the scale 1/sqrt(D) is missing"

  std::optional<double> scale{};        // instead of the right one
  std::optional<Causal> causal{};       // anchored otherwise
  int64_t keyOffset = 0;                // keys 0 … visible + offset: a diagonal that is off by some
  bool ignoreMask = false;
  bool invertMask = false;
  bool maskScaled = false;              // an additive mask is added before the scale
  int64_t dropTail = 0;                 // keys of a last, partial tile of this size are never read
  int64_t padTo = 0;                    // a last tile is padded to this size with scores of 0 and values of 0
  int64_t skipTile = 0;                 // only every tile but the first of this size
  int64_t onlyTile = 0;                 // only the last visible tile of this size counts
  bool tileHeads = false;               // grouped heads tile (h % Hkv)
  std::optional<int64_t> batch{}, kvHead{}; // keys and values of another batch, of another head
  int64_t dropDims = 0;                 // the last, partial group of this many dimensions is left out of the scores
  std::optional<double> startMaximum{}; // the maximum starts here in place of minus infinity
  bool flush = false;                   // exponentials as float holds them: below 1.2e-38 is 0
  double sentinel = 0;                  // masked scores get this in place of minus infinity
  int64_t tile = 0;                     // the online softmax goes by tiles of this size, and …
  bool keepAccumulator = false;         // … does not rescale the accumulator,
  bool keepSum = false;                 // … does not rescale the sum,
  bool sumBeforeRescale = false;        // … adds to the sum before the older part is rescaled
  bool noSoftmax = false;               // all visible keys weigh the same
  bool noNormalise = false;
};

struct FaultyRow {
  std::vector<double> output;
  double lse = 0;
};
FaultyRow faultyRow(const Inputs &in, const Row &row, const Fault &fault);

/// Those that can differ from the right answer for these inputs.
std::vector<Fault> knownFaults(const Inputs &in, const Row &row);

/// The right row's scores at a glance.
struct RowFacts {
  int64_t visible = 0, firstVisible = 0;
  double smallest = 0, largest = 0;
  double sum = 0; // of exponentials, the maximum taken off
};
RowFacts factsOf(const Inputs &in, const Row &row);

} // namespace opsight::ops::attention
