#include "card/cpu/onednn_attention.h"
#include "card/worker/pool.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <limits>
#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

namespace opsight::card {

namespace {

constexpr int64_t scoreBytes = 512 << 10; // of one tile: half a second-level cache, the rest is for keys and values
constexpr int64_t keyStep = 64;           // causal tiles see a multiple of this many keys, so that shapes repeat

struct Shape {
  int64_t B, H, Hkv, L, S, D, Dv;
  int32_t causal;
  float scale;
  /// Keys that row i sees: j <= i + offset.
  int64_t offset() const { return causal == 2 ? S - L : 0; }
};

/// One softmax over the rows of a tile, made once for each (rows, keys) and used by all threads, each with memory of
/// its own.
struct Softmax {
  dnnl::softmax_forward primitive;
  dnnl::memory::desc tile, scratchpad;
};

class Attention {
public:
  Attention() : engine_(dnnl::engine::kind::cpu, 0), pool_(8 << 20, [](unsigned) { oneThreadEach(); }) {
    for (unsigned i = 0; i < pool_.size(); ++i)
      threads_.push_back(std::make_unique<PerThread>(engine_));
  }

  double run(const Shape &shape, const float *query, const float *key, const float *value, float *output) {
    int64_t rows = tileRows(shape);
    int64_t tiles = (shape.L + rows - 1) / rows, jobs = shape.B * shape.H * tiles;
    prepare(shape, rows);
    std::atomic<int64_t> next{0};
    std::atomic<bool> failed{false};
    auto start = std::chrono::steady_clock::now();
    pool_.run([&](unsigned thread) {
      try {
        for (int64_t job; (job = next.fetch_add(1)) < jobs;) {
          int64_t head = job / tiles, kvHead = head / shape.H * shape.Hkv + head % shape.H / (shape.H / shape.Hkv);
          int64_t row = (tiles - 1 - job % tiles) * rows; // causal: the longest tiles first
          runTile(shape, *threads_[thread], row, std::min(rows, shape.L - row), query + head * shape.L * shape.D,
                  key + kvHead * shape.S * shape.D, value + kvHead * shape.S * shape.Dv,
                  output + head * shape.L * shape.Dv);
        }
      } catch (const dnnl::error &) {
        failed = true;
      }
    });
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return failed ? -1 : seconds;
  }

private:
  struct PerThread {
    explicit PerThread(const dnnl::engine &engine) : stream(engine) {}
    dnnl::stream stream;
    std::vector<float> scores;
    std::vector<char> scratch;
  };

  /// Inside a tile the library must not start threads of its own: the tiles are the parallelism.
  static void oneThreadEach() {
    using SetThreads = void (*)(int);
    if (auto set = reinterpret_cast<SetThreads>(::dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
      set(1);
  }

  int64_t tileRows(const Shape &shape) const {
    int64_t rows = std::clamp<int64_t>(scoreBytes / 4 / std::max<int64_t>(shape.S, 1), 16, 256) / 16 * 16;
    // Enough tiles for every core, as far as sixteen rows a tile allow.
    int64_t wanted = 4 * pool_.size() / std::max<int64_t>(shape.B * shape.H, 1) + 1;
    return std::max<int64_t>(16, std::min(rows, (shape.L / wanted + 15) / 16 * 16));
  }

  static int64_t keysOf(const Shape &shape, int64_t lastRow) {
    if (!shape.causal)
      return shape.S;
    int64_t seen = std::clamp<int64_t>(lastRow + 1 + shape.offset(), 0, shape.S);
    return std::min(shape.S, (seen + keyStep - 1) / keyStep * keyStep);
  }

  void prepare(const Shape &shape, int64_t rows) {
    size_t scratch = 1;
    for (int64_t row = 0; row < shape.L; row += rows) {
      int64_t count = std::min(rows, shape.L - row), keys = keysOf(shape, row + count - 1);
      if (keys > 0)
        scratch = std::max(scratch, softmaxFor(count, keys).scratchpad.get_size());
    }
    for (auto &thread : threads_) {
      thread->scores.resize(static_cast<size_t>(rows * std::max<int64_t>(shape.S, 1)));
      thread->scratch.resize(scratch);
    }
  }

  const Softmax &softmaxFor(int64_t rows, int64_t keys) {
    auto &slot = softmaxes_[{rows, keys}];
    if (!slot) {
      slot = std::make_unique<Softmax>();
      slot->tile = {{rows, keys}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab};
      dnnl::primitive_attr attributes;
      attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
      dnnl::softmax_forward::primitive_desc made(
          dnnl::softmax_forward::desc(dnnl::prop_kind::forward_inference, slot->tile, 1), attributes, engine_);
      slot->primitive = dnnl::softmax_forward(made);
      slot->scratchpad = made.scratchpad_desc();
    }
    return *slot;
  }

  void runTile(const Shape &shape, PerThread &own, int64_t row, int64_t rows, const float *query, const float *key,
               const float *value, float *output) {
    int64_t keys = keysOf(shape, row + rows - 1);
    output += row * shape.Dv;
    if (keys <= 0) {
      std::fill_n(output, rows * shape.Dv, 0.0f);
      return;
    }
    float *scores = own.scores.data();
    dnnl::sgemm('N', 'T', rows, keys, shape.D, shape.scale, query + row * shape.D, shape.D, key, shape.D, 0, scores, keys);
    if (shape.causal)
      mask(shape, row, rows, keys, scores);
    const Softmax &softmax = *softmaxes_.at({rows, keys});
    dnnl::memory tile(softmax.tile, engine_, scores), scratch(softmax.scratchpad, engine_, own.scratch.data());
    softmax.primitive.execute(own.stream, {{DNNL_ARG_SRC, tile}, {DNNL_ARG_DST, tile}, {DNNL_ARG_SCRATCHPAD, scratch}});
    dnnl::sgemm('N', 'N', rows, shape.Dv, keys, 1, scores, keys, value, shape.Dv, 0, output, shape.Dv);
    for (int64_t i = 0; shape.causal && i < rows && row + i + shape.offset() < 0; ++i)
      std::fill_n(output + i * shape.Dv, shape.Dv, 0.0f);
  }

  static void mask(const Shape &shape, int64_t row, int64_t rows, int64_t keys, float *scores) {
    for (int64_t i = 0; i < rows; ++i) {
      int64_t seen = std::clamp<int64_t>(row + i + shape.offset() + 1, 0, keys);
      std::fill(scores + i * keys + seen, scores + (i + 1) * keys, -std::numeric_limits<float>::infinity());
    }
  }

  dnnl::engine engine_;
  Pool pool_;
  std::vector<std::unique_ptr<PerThread>> threads_;
  std::map<std::pair<int64_t, int64_t>, std::unique_ptr<Softmax>> softmaxes_;
};

template <class T> T valueAt(const std::vector<const void *> &arguments, size_t i) {
  return *static_cast<const T *>(arguments[i]);
}
} // namespace

Result<double> runOneDnnAttention(const std::vector<const void *> &arguments) {
  constexpr size_t count = 13;
  if (arguments.size() != count)
    return internalError("oneDNN's attention takes thirteen arguments");
  int64_t sizes[7];
  for (size_t i = 0; i < 7; ++i)
    sizes[i] = valueAt<int64_t>(arguments, 4 + i);
  Shape shape{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6],
              valueAt<int32_t>(arguments, 11), valueAt<float>(arguments, 12)};
  if (std::ranges::any_of(sizes, [](int64_t n) { return n < 0; }) || shape.Hkv == 0 || shape.H % shape.Hkv != 0)
    return unsupported("oneDNN's attention cannot take these sizes");
  try {
    static Attention attention;
    double seconds = attention.run(shape, valueAt<const float *>(arguments, 0), valueAt<const float *>(arguments, 1),
                                   valueAt<const float *>(arguments, 2), valueAt<float *>(arguments, 3));
    if (seconds < 0)
      return unsupported("oneDNN reported an error while it ran");
    return seconds;
  } catch (const dnnl::error &error) {
    return unsupported(std::string("oneDNN: ") + error.what());
  }
}

} // namespace opsight::card
