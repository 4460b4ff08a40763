// What a wrong row looks like, whatever the operator: shifted, the answer to something else, off by one factor, or right
// but for the bits it keeps.
#pragma once
#include "operator/operator.h"

namespace opsight::ops {

/// A known fault must come this much nearer to what was written than the right answer does, to be named.
constexpr double muchNearer = 20;
/// And within this, relative to the values: the kernel computes in float, the fault in double.
constexpr double nearEnough = 1e-3;

/// The largest error between two rows; infinity where only one of a pair is finite.
double distance(const std::vector<double> &a, const std::vector<double> &b, double magnitude = 1);

/// What a fault would have written, computed in double precision.
struct Likeness {
  std::string phase, what;
  std::vector<double> value;
};
/// The likeness that comes near enough to `got`, and much nearer than `want` does; "row 3" is `where`.
std::optional<Diagnosis> nearest(std::vector<Likeness> likenesses, const std::vector<double> &got,
                                 const std::vector<double> &want, double magnitude, const std::string &where);

/// Element d holds what belongs a few elements further.
std::optional<Diagnosis> shiftedColumns(const std::vector<double> &got, const std::vector<double> &want, double magnitude = 1);

/// The factor that all elements of `got` are off by, if that is all that is wrong with them.
std::optional<double> commonFactor(const std::vector<double> &got, const std::vector<double> &want, double magnitude = 1);

/// Small errors everywhere: about how many bits of mantissa they look like. `phase` is where products are summed.
std::optional<Diagnosis> fewerBits(const Problem &problem, const Tensor &output, const std::string &tensor,
                                   const std::string &phase);

} // namespace opsight::ops
