#include "card/cpu/onednn.h"
#include <algorithm>
#include <dlfcn.h>
#include <stdexcept>

namespace opsight::card {

/// Where the processor has AMX the library asks the system for the use of its registers, which the worker's filter takes
/// for an attack; in float it has no use for them.
dnnl::engine &oneDnnEngine() {
  static dnnl::engine engine = [] {
    dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return engine;
}

/// Inside a task the library must not start threads of its own: the tasks are the parallelism.
static void oneThreadEach() {
  using SetThreads = void (*)(int);
  if (auto set = reinterpret_cast<SetThreads>(::dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
    set(1);
}

Pool &oneDnnPool() {
  constexpr uint64_t stackBytes = 8 << 20;
  static Pool pool(stackBytes, [](unsigned) { oneThreadEach(); });
  return pool;
}

Result<double> callOneDnn(const LibraryArguments &arguments, size_t count, const std::function<double()> &run) {
  if (arguments.size() != count)
    return internalError("oneDNN's function takes " + std::to_string(count) + " arguments, not " + std::to_string(arguments.size()));
  try {
    return run();
  } catch (const dnnl::error &error) {
    return unsupported(std::string("oneDNN: ") + error.what());
  } catch (const std::runtime_error &error) { // told on another thread
    return unsupported(std::string("oneDNN while it ran: ") + error.what());
  }
}

dnnl::primitive_attr oneDnnAttributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::memory::desc matrixOf(int64_t rows, int64_t columns, bool transposed) {
  using Tag = dnnl::memory::format_tag;
  return {{rows, columns}, dnnl::memory::data_type::f32, transposed ? Tag::ba : Tag::ab};
}

dnnl::memory memoryAt(const dnnl::memory::desc &description, const float *data) {
  return dnnl::memory(description, oneDnnEngine(), const_cast<float *>(data));
}

double onRows(int64_t rows, const std::function<OneDnnTask(int64_t begin, int64_t count, unsigned share)> &make) {
  Pool &pool = oneDnnPool();
  std::vector<OneDnnTask> tasks;
  std::vector<dnnl::stream> streams;
  int64_t shares = std::min<int64_t>(pool.size(), rows);
  for (int64_t share = 0; share < shares; ++share) {
    int64_t begin = rows * share / shares;
    tasks.push_back(make(begin, rows * (share + 1) / shares - begin, unsigned(share)));
    streams.emplace_back(oneDnnEngine());
  }
  std::vector<std::string> failures(static_cast<size_t>(shares));
  double seconds = pool.run([&](unsigned thread) {
    try {
      if (thread < tasks.size())
        tasks[thread].run(streams[thread]);
    } catch (const dnnl::error &error) {
      failures[thread] = error.what();
    }
  });
  for (const std::string &failure : failures)
    if (!failure.empty())
      throw std::runtime_error(failure);
  return seconds;
}

} // namespace opsight::card
