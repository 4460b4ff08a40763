// Halves that are hard to compute with, and what IEEE arithmetic makes of them: LLVM's APFloat, on the host.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <llvm/ADT/APFloat.h>
#include <random>
#include <vector>

namespace opsight::lower::halves {

using llvm::APFloat, llvm::APSInt;
inline constexpr auto nearest = APFloat::rmNearestTiesToEven;

inline APFloat half(uint16_t bits) { return {APFloat::IEEEhalf(), llvm::APInt(16, bits)}; }
inline uint16_t bitsOf(const APFloat &value) { return uint16_t(value.bitcastToAPInt().getZExtValue()); }
inline bool isNan(uint16_t bits) { return (bits & 0x7FFF) > 0x7C00; }
/// The same bits, or a quiet NaN where one is due: its payload is nobody's promise.
inline bool agrees(uint16_t got, uint16_t want) { return got == want || (isNan(want) && (got & 0x7E00) == 0x7E00); }

template <class T> uint16_t rounded(T value) {
  APFloat result(value);
  bool inexact;
  result.convert(APFloat::IEEEhalf(), nearest, &inexact);
  return bitsOf(result);
}
template <class T> uint16_t roundedInteger(T value) {
  APFloat result(APFloat::IEEEhalf());
  llvm::APInt bits(8 * sizeof(T), uint64_t(value), std::is_signed_v<T>, /*implicitTrunc=*/true);
  result.convertFromAPInt(bits, std::is_signed_v<T>, nearest);
  return bitsOf(result);
}
inline double valueOf(uint16_t bits) {
  APFloat value = half(bits);
  bool inexact;
  value.convert(APFloat::IEEEdouble(), nearest, &inexact);
  return value.convertToDouble();
}

/// Zeros, the ends of the subnormals and of the normals, ones and their neighbours, infinities, both kinds of NaN.
inline std::vector<uint16_t> corners() {
  std::vector<uint16_t> all;
  for (uint16_t magnitude : {0x0000, 0x0001, 0x0002, 0x0003, 0x01FF, 0x0200, 0x03FE, 0x03FF, 0x0400, 0x0401, 0x07FF, 0x0C00,
                             0x1000, 0x1400, 0x2E66, 0x3555, 0x3800, 0x3BFF, 0x3C00, 0x3C01, 0x3FFF, 0x4000, 0x4248, 0x6400,
                             0x6800, 0x77FF, 0x7800, 0x7BFE, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7FFF})
    for (uint16_t sign : {0x0000, 0x8000})
      all.push_back(magnitude | sign);
  return all;
}

/// Every half, every middle between two, what lies by one unit in the last place of T and by a float's beside them, and
/// random bits.
template <class T> std::vector<T> aroundHalves() {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  std::vector<T> all;
  for (uint32_t i = 0; i < 0x7C00; ++i)
    for (double sign : {1.0, -1.0}) {
      double low = valueOf(uint16_t(i)), high = i == 0x7BFF ? 65536.0 : valueOf(uint16_t(i + 1)), middle = (low + high) / 2;
      for (double at : {low, middle})
        for (T exact = T(sign * at); int64_t step : {-1, 0, 1})
          if (at != 0 || step >= 0)
            all.push_back(std::bit_cast<T>(Bits(std::bit_cast<Bits>(exact) + step)));
      if (sizeof(T) == 8)
        for (double part : {-0x1p-25, 0x1p-25, -0x1p-24, 0x1p-24})
          all.push_back(T(sign * middle * (1 + part)));
    }
  std::mt19937_64 random(7);
  for (int i = 0; i < 65536; ++i)
    all.push_back(std::bit_cast<T>(Bits(random())));
  for (double large : {65504.0, 65519.0, 65519.99, 65520.0, 65536.0, 1e6, 3e38, HUGE_VAL})
    for (double sign : {1.0, -1.0})
      all.push_back(T(sign * large));
  return all;
}

struct Triple {
  uint16_t a, b, c;
};

/// Corners with each other; random bits; sums that nearly cancel a product, or that a product tips by the least bit.
inline std::vector<Triple> triples() {
  std::vector<Triple> all;
  std::vector<uint16_t> some = corners();
  for (uint16_t a : some)
    for (uint16_t b : some)
      for (size_t i = 0; i < some.size(); i += 3)
        all.push_back({a, b, some[(i + a % 3) % some.size()]});
  std::mt19937_64 random(11);
  for (int i = 0; i < 100000; ++i) {
    uint64_t bits = random();
    Triple t{uint16_t(bits), uint16_t(bits >> 16), uint16_t(bits >> 32)};
    all.push_back(t);
    all.push_back({t.a, t.b, uint16_t(rounded(-valueOf(t.a) * valueOf(t.b)) + int(bits >> 48 & 3) - 1)});
    // A product that is half the last place of the addend but for 2⁻²¹ to 2⁻¹¹ of it: a float would take it for a tie.
    uint16_t exponent = uint16_t((11 + (bits >> 48) % 19) << 10), fraction = uint16_t(1 + t.a % 1023);
    uint16_t inverse = uint16_t(((1 << 21) + (1024 + fraction) / 2) / (1024 + fraction) - 1024);
    all.push_back({uint16_t(exponent | fraction | (t.b & 0x8000)), uint16_t(3 << 10 | inverse), uint16_t((t.c & 0x83FF) | exponent)});
  }
  return all;
}

} // namespace opsight::lower::halves
