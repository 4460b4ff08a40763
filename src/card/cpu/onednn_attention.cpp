#include "card/cpu/onednn.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <memory>

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

/// What a tile of (rows, keys) needs after its scores: made once, used by all threads, each with memory of its own.
/// (The score product is oneDNN's sgemm: as fast as its matmul, and it takes the scale as alpha.)
struct TileSteps {
  dnnl::softmax_forward softmax;
  dnnl::matmul product; // of probabilities and values
  dnnl::memory::desc scores, values, output, softmaxScratch, productScratch;
};

class Attention {
public:
  Attention() : engine_(oneDnnEngine()), pool_(oneDnnPool()) {
    for (unsigned i = 0; i < pool_.size(); ++i)
      threads_.push_back(std::make_unique<PerThread>(engine_));
  }

  double run(const Shape &shape, const float *query, const float *key, const float *value, float *output) {
    int64_t rows = tileRows(shape);
    int64_t tiles = (shape.L + rows - 1) / rows, jobs = shape.B * shape.H * tiles;
    prepare(shape, rows);
    std::atomic<int64_t> next{0};
    std::atomic<bool> failed{false};
    double seconds = pool_.run([&](unsigned thread) {
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
    return failed ? -1 : seconds;
  }

private:
  struct PerThread {
    explicit PerThread(const dnnl::engine &engine) : stream(engine) {}
    dnnl::stream stream;
    std::vector<float> scores;
    std::vector<char> scratch;
  };

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
        for (const auto *need : {&stepsFor(count, keys, shape.Dv).softmaxScratch, &stepsFor(count, keys, shape.Dv).productScratch})
          scratch = std::max(scratch, need->get_size());
    }
    for (auto &thread : threads_) {
      thread->scores.resize(static_cast<size_t>(rows * std::max<int64_t>(shape.S, 1)));
      thread->scratch.resize(scratch);
    }
  }

  const TileSteps &stepsFor(int64_t rows, int64_t keys, int64_t width) {
    auto &slot = steps_[{rows, keys, width}];
    if (slot)
      return *slot;
    using Desc = dnnl::memory::desc;
    constexpr auto f32 = dnnl::memory::data_type::f32;
    constexpr auto rowMajor = dnnl::memory::format_tag::ab;
    slot = std::make_unique<TileSteps>();
    slot->scores = Desc({rows, keys}, f32, rowMajor);
    slot->values = Desc({keys, width}, f32, rowMajor);
    slot->output = Desc({rows, width}, f32, rowMajor);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::softmax_forward::primitive_desc softmax(
        dnnl::softmax_forward::desc(dnnl::prop_kind::forward_inference, slot->scores, 1), attributes, engine_);
    dnnl::matmul::primitive_desc product(dnnl::matmul::desc(slot->scores, slot->values, slot->output), attributes, engine_);
    slot->softmax = dnnl::softmax_forward(softmax);
    slot->product = dnnl::matmul(product);
    slot->softmaxScratch = softmax.scratchpad_desc();
    slot->productScratch = product.scratchpad_desc();
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
    const TileSteps &steps = *steps_.at({rows, keys, shape.Dv});
    dnnl::memory tile(steps.scores, engine_, scores), values(steps.values, engine_, const_cast<float *>(value)),
        result(steps.output, engine_, output), scratch1(steps.softmaxScratch, engine_, own.scratch.data()),
        scratch2(steps.productScratch, engine_, own.scratch.data());
    steps.softmax.execute(own.stream, {{DNNL_ARG_SRC, tile}, {DNNL_ARG_DST, tile}, {DNNL_ARG_SCRATCHPAD, scratch1}});
    steps.product.execute(own.stream, {{DNNL_ARG_SRC, tile},
                                       {DNNL_ARG_WEIGHTS, values},
                                       {DNNL_ARG_DST, result},
                                       {DNNL_ARG_SCRATCHPAD, scratch2}});
    for (int64_t i = 0; shape.causal && i < rows && row + i + shape.offset() < 0; ++i)
      std::fill_n(output + i * shape.Dv, shape.Dv, 0.0f);
  }

  static void mask(const Shape &shape, int64_t row, int64_t rows, int64_t keys, float *scores) {
    for (int64_t i = 0; i < rows; ++i) {
      int64_t seen = std::clamp<int64_t>(row + i + shape.offset() + 1, 0, keys);
      std::fill(scores + i * keys + seen, scores + (i + 1) * keys, -std::numeric_limits<float>::infinity());
    }
  }

  dnnl::engine &engine_;
  Pool &pool_;
  std::vector<std::unique_ptr<PerThread>> threads_;
  std::map<std::array<int64_t, 3>, std::unique_ptr<TileSteps>> steps_; // by rows, keys, width of a value
};

} // namespace

Result<double> runOneDnnAttention(const LibraryArguments &arguments) {
  return callOneDnn(arguments, 13, [&] {
    int64_t sizes[7];
    for (size_t i = 0; i < 7; ++i)
      sizes[i] = valueAt<int64_t>(arguments, 4 + i);
    Shape shape{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6],
                valueAt<int32_t>(arguments, 11), valueAt<float>(arguments, 12)};
    if (std::ranges::any_of(sizes, [](int64_t n) { return n < 0; }) || shape.Hkv == 0 || shape.H % shape.Hkv != 0)
      throw dnnl::error(dnnl_invalid_arguments, "attention cannot take these sizes");
    static Attention attention;
    double seconds = attention.run(shape, valueAt<const float *>(arguments, 0), valueAt<const float *>(arguments, 1),
                                   valueAt<const float *>(arguments, 2), valueAt<float *>(arguments, 3));
    if (seconds < 0)
      throw dnnl::error(dnnl_runtime_error, "reported while it ran");
    return seconds;
  });
}

} // namespace opsight::card
