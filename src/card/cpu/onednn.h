// What all functions of oneDNN share: one engine, one pool of threads on which the library itself starts no others, and
// primitives that run beside each other. Each function's parameters are those of its row in card/library.cpp.
#pragma once
#include "base/error.h"
#include "card/worker/pool.h"
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

namespace opsight::card {

dnnl::engine &oneDnnEngine();
Pool &oneDnnPool();

using LibraryArguments = std::vector<const void *>;
template <class T> T valueAt(const LibraryArguments &arguments, size_t i) { return *static_cast<const T *>(arguments[i]); }

/// Seconds that `run` says, or what oneDNN complains of, with `count` arguments expected.
Result<double> callOneDnn(const LibraryArguments &arguments, size_t count, const std::function<double()> &run);

/// A primitive and its operands, ready to run; scratch memory is its own.
class OneDnnTask {
public:
  /// `description` is a primitive descriptor that was made with oneDnnAttributes().
  template <class Primitive, class Description>
  static OneDnnTask of(const Description &description, std::unordered_map<int, dnnl::memory> operands) {
    OneDnnTask task;
    task.primitive = Primitive(description);
    task.operands = std::move(operands);
    task.operands[DNNL_ARG_SCRATCHPAD] = dnnl::memory(description.scratchpad_desc(), oneDnnEngine());
    return task;
  }
  void run(dnnl::stream &stream) const { primitive.execute(stream, operands); }

private:
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> operands;
};
dnnl::primitive_attr oneDnnAttributes();

/// A row-major matrix at `data`; transposed, its columns lie one after another.
dnnl::memory::desc matrixOf(int64_t rows, int64_t columns, bool transposed = false);
dnnl::memory memoryAt(const dnnl::memory::desc &description, const float *data);

/// Runs make(begin, count)'s tasks beside each other, one a core, on shares of `rows` rows. Seconds of the tasks alone;
/// throws dnnl::error.
double onRows(int64_t rows, const std::function<OneDnnTask(int64_t begin, int64_t count, unsigned share)> &make);

Result<double> runOneDnnAttention(const LibraryArguments &arguments);
Result<double> runOneDnnSoftmax(const LibraryArguments &arguments);
Result<double> runOneDnnSoftmaxBackward(const LibraryArguments &arguments);
Result<double> runOneDnnLayernorm(const LibraryArguments &arguments);
Result<double> runOneDnnLayernormBackward(const LibraryArguments &arguments);
Result<double> runOneDnnMatmul(const LibraryArguments &arguments);

} // namespace opsight::card
