#include "port/recipe.h"
#include "base/file.h"
#include "base/text.h"
#include "lower/lower.h"
#include "port/contains.h"
#include <algorithm>

namespace opsight::port {

namespace {

/// Parameters of the tile kernels; each is fixed by a hint or free.
struct Shape {
  int64_t queries = 64, keys = 64, stride = 4;
  bool operator==(const Shape &) const = default;
};

struct Recipe {
  std::string name, operatorName, file;
  card::Mapping mapping;
  Shape standard;
  std::vector<Shape> variants;                            // worth measuring where hints leave them free
  std::optional<std::string> (*refuses)(const Shape &shape); // why the kernel cannot take this shape
  SourceKernel (*make)(const Shape &shape);
};

std::optional<std::string> flashSimdRefuses(const Shape &shape) {
  if (shape.queries % 16 || shape.queries > 256)
    return "its query tile is a multiple of 16 up to 256 (whole vector registers), not " + std::to_string(shape.queries);
  if (shape.keys % 16 || shape.keys > 512)
    return "its key tile is a multiple of 16 up to 512, not " + std::to_string(shape.keys);
  if ((shape.stride & (shape.stride - 1)) || shape.stride > 16 || shape.keys % shape.stride)
    return "its reduce stride is a power of two up to 16 that divides the key tile, not " + std::to_string(shape.stride);
  return std::nullopt;
}

SourceKernel flashSimd(const Shape &shape) {
  SourceKernel kernel;
  std::string queries = std::to_string(shape.queries);
  kernel.kernel = "flash_simd<" + queries + ", " + std::to_string(shape.keys) + ", " + std::to_string(shape.stride) + ">";
  kernel.launch.grid = {{"ceil_div(L, " + queries + ") * H * B"}};
  kernel.launch.block = {{"1"}};
  kernel.defines = {{"HEAD_DIM", {{"D"}, true}}, {"VALUE_DIM", {{"Dv"}, true}}, {"MASK", {{"mask"}, true}}};
  return kernel;
}

std::optional<std::string> flashSimtRefuses(const Shape &shape) {
  constexpr int64_t threads = 256, warps = threads / 32;
  if (shape.queries != 32 && shape.queries != 64 && shape.queries != 128)
    return "its query tile is 32, 64 or 128 (whole warps), not " + std::to_string(shape.queries);
  if (shape.keys % 32 || shape.keys < shape.queries || shape.keys > 256)
    return "its key tile is a multiple of 32, no smaller than the query tile, up to 256, not " + std::to_string(shape.keys);
  int64_t share = shape.keys * shape.queries / threads; // keys that a thread reduces
  if ((shape.stride & (shape.stride - 1)) || shape.stride > share || shape.keys / warps % shape.stride)
    return "its reduce stride is a power of two up to " + std::to_string(std::min(share, shape.keys / warps)) +
           " for this tile, not " + std::to_string(shape.stride);
  return std::nullopt;
}

SourceKernel flashSimt(const Shape &shape) {
  SourceKernel kernel;
  std::string queries = std::to_string(shape.queries), keys = std::to_string(shape.keys);
  kernel.kernel = "flash_simt<" + queries + ", " + keys + ", " + std::to_string(shape.stride) + ">";
  kernel.launch.grid = {{"ceil_div(L, " + queries + ") * H * B"}};
  kernel.launch.block = {{"256"}};
  kernel.launch.shared = {"(D * " + queries + " + " + keys + " * max(max(D, ceil_div(Dv, 8) * 8), 24)) * 4"};
  kernel.defines = {{"HEAD_DIM", {{"D"}, true}}, {"VALUE_DIM", {{"Dv"}, true}}, {"MASK", {{"mask"}, true}}};
  return kernel;
}

const std::vector<Recipe> &recipes() {
  static const std::vector<Recipe> table = {
      {"flash_simd", "scaled_dot_product_attention", "attention/flash_simd.cu", card::Mapping::Simd, {64, 64, 4},
       {{64, 128, 4}, {64, 256, 4}}, flashSimdRefuses, flashSimd},
      {"flash_simt", "scaled_dot_product_attention", "attention/flash_simt.cu", card::Mapping::Simt, {64, 64, 4},
       {{64, 128, 4}}, flashSimtRefuses, flashSimt},
  };
  return table;
}

/// What the hints fix of a shape.
struct Fixed {
  std::optional<std::pair<int64_t, int64_t>> tile;
  std::optional<int64_t> stride;
  std::string columnMajor; // the hint that asks for it
};

Fixed fixedBy(const std::vector<Hint> &hints) {
  Fixed fixed;
  for (const Hint &hint : hints) {
    if (hint.key == "tile") {
      size_t cross = hint.value.find('x');
      fixed.tile = {std::stoll(hint.value.substr(0, cross)), std::stoll(hint.value.substr(cross + 1))};
    } else if (hint.key == "reduce-stride")
      fixed.stride = std::stoll(hint.value);
    else if (hint.key == "kv" && hint.value.ends_with("column-major"))
      fixed.columnMajor = hint.key + "=" + hint.value;
  }
  return fixed;
}

Shape under(Shape shape, const Fixed &fixed) {
  if (fixed.tile)
    std::tie(shape.queries, shape.keys) = *fixed.tile;
  if (fixed.stride)
    shape.stride = *fixed.stride;
  return shape;
}

/// `lanes`: floats of one vector register of the card.
SourceKernel build(const Recipe &recipe, const Shape &shape, unsigned lanes) {
  SourceKernel kernel = recipe.make(shape);
  kernel.name = "recipe/" + recipe.name;
  kernel.proposer = "recipe";
  kernel.file = dataRoot() / "kernels" / recipe.file;
  kernel.defines["LANES"] = {{std::to_string(lanes)}, false};
  kernel.parameters = {{"tile", std::to_string(shape.queries) + "x" + std::to_string(shape.keys)},
                       {"reduce_stride", std::to_string(shape.stride)}};
  return kernel;
}

} // namespace

bool shapesKernel(const Hint &hint) { return hint.key != "order"; }

Result<std::vector<SourceKernel>> proposeRecipes(const Request &request, const card::Profile &profile) {
  Fixed fixed = fixedBy(request.hints);
  Result<unsigned> lanes = lower::nativeLanes(profile.processor.empty() ? "native" : profile.processor);
  if (!lanes)
    return std::unexpected(lanes.error());
  std::vector<std::string> whyNot;
  const bool prefersSimt = request.mapping.empty() ? profile.mapping == card::Mapping::Simt : request.mapping == "simt";
  std::vector<Recipe> ordered = recipes(); // the mapping that was asked for, or is the card's own, before the other
  std::ranges::stable_partition(ordered, [&](const Recipe &recipe) {
    return (recipe.mapping == card::Mapping::Simt) == prefersSimt;
  });
  for (const Recipe &recipe : ordered) {
    if (recipe.operatorName != request.op->name())
      continue;
    std::string mapping = recipe.mapping == card::Mapping::Simd ? "simd" : "simt";
    if (!request.mapping.empty() && request.mapping != mapping) {
      whyNot.push_back(recipe.name + " is a " + mapping + " recipe, not " + request.mapping);
      continue;
    }
    if (!fixed.columnMajor.empty()) {
      whyNot.push_back(recipe.name + " reads K and V row-major and cannot keep " + fixed.columnMajor);
      continue;
    }
    Shape shape = under(recipe.standard, fixed);
    if (std::optional<std::string> why = recipe.refuses(shape)) {
      whyNot.push_back(recipe.name + " cannot keep the hints: " + *why);
      continue;
    }
    std::vector<Shape> shapes = {shape};
    for (const Shape &variant : recipe.variants)
      if (Shape free = under(variant, fixed); !contains(shapes, free) && !recipe.refuses(free))
        shapes.push_back(free);
    std::vector<SourceKernel> kernels;
    for (const Shape &each : shapes)
      kernels.push_back(build(recipe, each, *lanes));
    return kernels;
  }
  if (whyNot.empty())
    return unsupported("no recipe for " + std::string(request.op->name()) + " under hints yet",
                       "leave the hints out to have the source carried over as it is");
  return unsupported("no recipe keeps these hints: " + join(whyNot, "; "),
                     "change what is named, or leave the hints out to have the source carried over as it is");
}

} // namespace opsight::port
