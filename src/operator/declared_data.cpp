// What buffers begin with. Whole numbers stay small, so that sums of them are exact and differ where order or index does.
#include "operator/declared.h"
#include "operator/npy.h"
#include "operator/random.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <functional>

namespace opsight::ops {
namespace {

using Values = BufferType::Values;

template <class T> void write(Tensor &tensor, const std::function<double(int64_t)> &valueAt) {
  auto elements = tensor.as<T>();
  for (size_t n = 0; n < elements.size(); ++n)
    if constexpr (std::is_floating_point_v<T>)
      elements[n] = T(valueAt(int64_t(n)));
    else
      elements[n] = T(int64_t(valueAt(int64_t(n)))); // wraps, as an iota past a narrow type's end does
}

void writeAll(Tensor &tensor, const std::function<double(int64_t)> &valueAt) {
  switch (tensor.type) {
  case ElementType::Float64:
    return write<double>(tensor, valueAt);
  case ElementType::Int32:
    return write<int32_t>(tensor, valueAt);
  case ElementType::Int64:
    return write<int64_t>(tensor, valueAt);
  case ElementType::UInt8:
    return write<uint8_t>(tensor, valueAt);
  default:
    return write<float>(tensor, valueAt);
  }
}

double normalValue(Values values, Random &random) {
  double value = random.normal();
  switch (values) {
  case Values::Real:
    return value;
  case Values::Truth:
    return value > 0;
  case Values::Unsigned:
    return std::min(255.0, std::round(std::abs(30 * value)));
  default:
    return std::max(-127.0, std::min(127.0, std::round(30 * value)));
  }
}

double uniformValue(Values values, Random &random) {
  return values == Values::Real ? random.uniform() : double(random.below(values == Values::Truth ? 2 : 100));
}

std::string npyTypeOf(const BufferType &type) {
  const char *kind = type.values == Values::Real ? "f" : type.values == Values::Truth ? "b" : type.values == Values::Signed ? "i" : "u";
  return kind + std::to_string(sizeOf(type.element));
}

Result<Tensor> fromFile(const DeclaredBuffer &buffer, Tensor tensor) {
  Result<NpyArray> array = readNpy(buffer.file);
  if (!array)
    return std::unexpected(array.error());
  if (array->type != npyTypeOf(buffer.type))
    return userError(fmt::format("'{}' holds {}, but buffer {} is {} (NumPy's {})", buffer.file.string(), array->type, buffer.name,
                                 buffer.type.name, npyTypeOf(buffer.type)));
  double count = 1;
  for (int64_t extent : array->shape)
    count *= double(extent);
  if (count != double(tensor.count()))
    return userError(fmt::format("'{}' holds {} elements, but buffer {} has {}", buffer.file.string(), count, buffer.name,
                                 tensor.count()),
                     "count = \"" + buffer.count + "\"");
  if (array->bytes.size() != tensor.bytes.size())
    return userError("'" + buffer.file.string() + "' is cut off");
  if (!array->bytes.empty())
    std::memcpy(tensor.bytes.data(), array->bytes.data(), array->bytes.size());
  return tensor;
}

} // namespace

Result<Tensor> fillOf(const DeclaredBuffer &buffer, int64_t count, uint64_t seed) {
  Tensor tensor{buffer.type.element, {count}, std::vector<std::byte>(size_t(count) * sizeOf(buffer.type.element))};
  Random random(seed);
  Values values = buffer.type.values;
  switch (buffer.fill) {
  case Fill::File:
    return fromFile(buffer, std::move(tensor));
  case Fill::Normal:
    writeAll(tensor, [&](int64_t) { return normalValue(values, random); });
    break;
  case Fill::Uniform:
    writeAll(tensor, [&](int64_t) { return uniformValue(values, random); });
    break;
  case Fill::Iota:
    writeAll(tensor, [&](int64_t n) { return values == Values::Truth ? double(n % 2) : double(n); });
    break;
  default:
    break; // zero, and poison is the judge's to write
  }
  return tensor;
}

} // namespace opsight::ops
