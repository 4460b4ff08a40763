// The elementary functions of src/lower/native/mathematics, compiled for this processor and compared with the C library
// in double or long double. Every 5987th float is tried and what is hard; OPSIGHT_STRIDE=N in the environment tries every
// Nth, and --gtest_output=xml:FILE writes the largest error of each function. All floats take minutes a function.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <vector>

extern const unsigned char opsight_mathematics[];
extern const unsigned long opsight_mathematics_size;

extern "C" {
float opsight_expf(float), opsight_exp2f(float), opsight_exp10f(float), opsight_expm1f(float), opsight_sinhf(float),
    opsight_coshf(float), opsight_tanhf(float), opsight_logf(float), opsight_log2f(float), opsight_log10f(float),
    opsight_log1pf(float), opsight_asinhf(float), opsight_acoshf(float), opsight_atanhf(float), opsight_sinf(float),
    opsight_cosf(float), opsight_tanf(float), opsight_sinpif(float), opsight_cospif(float), opsight_asinf(float),
    opsight_acosf(float), opsight_atanf(float), opsight_cbrtf(float), opsight_erff(float), opsight_erfcf(float),
    opsight_normcdff(float), opsight_erfcxf(float);
float opsight_powf(float, float), opsight_atan2f(float, float), opsight_hypotf(float, float),
    opsight_rhypotf(float, float), opsight_fmodf(float, float), opsight_remainderf(float, float),
    opsight_nextafterf(float, float);
float opsight_norm3df(float, float, float), opsight_norm4df(float, float, float, float);
double opsight_exp(double), opsight_exp2(double), opsight_log(double), opsight_log2(double), opsight_log10(double),
    opsight_tanh(double), opsight_exp10(double), opsight_expm1(double), opsight_sinh(double), opsight_cosh(double);
float opsight_ldexpf(float, int), opsight_frexp_fractionf(float);
double opsight_ldexp(double, int), opsight_frexp_fraction(double);
int opsight_frexp_exponentf(float), opsight_frexp_exponent(double);
}

namespace opsight::lower {

constexpr double wrong = 1e30;

/// How far `got` lies from `exact`, in units of the last place of a T of exact's size; `wrong` where a special value
/// is.
template <class T, class Exact> static double ulps(T got, Exact exact) {
  constexpr int digits = std::numeric_limits<T>::digits, least = std::numeric_limits<T>::min_exponent;
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) && std::isnan(got) ? 0 : wrong;
  if (exact == 0)
    return got == 0 && std::signbit(got) == std::signbit(exact) ? 0 : wrong;
  if (std::isinf(exact) || std::isinf(got)) {
    const Exact limit = std::numeric_limits<T>::max(); // the next number would be infinity
    return T(exact) == got || (std::isinf(got) && std::abs(exact) >= limit) ? 0 : wrong;
  }
  int exponent = 0;
  std::frexp(exact, &exponent);
  return double(std::abs(Exact(got) - exact) / std::ldexp(Exact(1), std::max(exponent, least) - digits));
}

static uint64_t stride() {
  const char *asked = std::getenv("OPSIGHT_STRIDE");
  return asked && std::atoi(asked) > 0 ? uint64_t(std::atoi(asked)) : 5987;
}

static const std::vector<float> &hardFloats() {
  static const std::vector<float> hard = [] {
    std::vector<float> all;
    for (float x : {0.0f,
                    0x1p-149f,
                    0x1p-126f,
                    0x1.fffffep-127f,
                    0x1p-24f,
                    0.5f,
                    0.5625f,
                    0.6f,
                    0.92f,
                    1.0f,
                    1.5f,
                    2.0f,
                    3.92f,
                    9.02f,
                    10.05f,
                    14.4f,
                    18.0f,
                    88.72284f,
                    87.33655f,
                    103.97208f,
                    89.41599f,
                    127.0f,
                    128.0f,
                    126.0f,
                    149.0f,
                    150.0f,
                    38.53184f,
                    45.15f,
                    1.5707964f,
                    3.1415927f,
                    0x1.f3ep+72f,
                    0x1p44f,
                    0x1p65f,
                    0x1p86f,
                    0x1p107f,
                    16367173.0f * 0x1p72f,
                    0x1p23f,
                    0x1p24f,
                    8388609.5f,
                    0x1p60f,
                    0x1.555556p+127f,
                    std::numeric_limits<float>::max(),
                    std::numeric_limits<float>::infinity(),
                    std::numeric_limits<float>::quiet_NaN()})
      for (float sign : {1.0f, -1.0f})
        for (float y : {x, std::nextafter(x, 0.0f), std::nextafter(x, std::numeric_limits<float>::infinity())})
          all.push_back(sign * y);
    return all;
  }();
  return hard;
}

namespace {
struct Function {
  const char *name;
  float (*ours)(float);
  double (*exact)(double);
  double bound; // ulp
};
} // namespace

static double sineOfPi(double x) {
  double turn = std::fmod(std::abs(x), 2.0), folded = turn > 1.5 ? turn - 2 : turn > 0.5 ? 1 - turn : turn;
  return std::isinf(x) ? std::nan("") : std::copysign(1.0, x) * (folded == 0 ? 0 : std::sin(M_PI * folded));
}
static double cosineOfPi(double x) {
  double turn = std::fmod(std::abs(x), 2.0), folded = turn > 1 ? 2 - turn : turn;
  double part = folded <= 0.25  ? std::cos(M_PI * folded)
                : folded < 0.75 ? std::sin(M_PI * (0.5 - folded))
                                : -std::cos(M_PI * (1 - folded));
  return std::isinf(x) ? std::nan("") : folded == 0.5 ? 0.0 : part;
}
static double normalDistribution(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }
static double scaledErfc(double x) {
  if (std::isinf(x) || std::isnan(x))
    return x > 0 ? 0.0 : x < 0 ? -x : x;
  if (x < 8)
    return double(std::exp((long double)x * x) * std::erfc((long double)x));
  long double term = 1, sum = 1; // asymptotic
  for (int k = 1; k < 26; ++k)
    sum += term *= -(2 * k - 1) / (2.0L * x * x);
  return double(sum / (x * std::sqrt(3.14159265358979323846L)));
}

class Mathematics : public testing::TestWithParam<Function> {};

TEST_P(Mathematics, StaysWithinItsBound) {
  const Function &function = GetParam();
  double worst = 0;
  float at = 0;
  auto tryOne = [&](float x) {
    if (double error = ulps(function.ours(x), function.exact(x)); error > worst)
      worst = error, at = x;
  };
  for (uint64_t word = 0; word <= 0xffffffff; word += stride())
    tryOne(std::bit_cast<float>(uint32_t(word)));
  for (float x : hardFloats())
    tryOne(x);
  RecordProperty("ulp", std::to_string(worst));
  EXPECT_LE(worst, function.bound) << function.name << "(" << at << ") is " << function.ours(at) << ", not "
                                   << function.exact(at);
}

// CUDA's documented bounds, or better.
INSTANTIATE_TEST_SUITE_P(
    Float, Mathematics,
    testing::Values(Function{"expf", opsight_expf, std::exp, 1}, Function{"exp2f", opsight_exp2f, std::exp2, 1},
                    Function{"exp10f", opsight_exp10f, ::exp10, 1}, Function{"expm1f", opsight_expm1f, std::expm1, 1},
                    Function{"sinhf", opsight_sinhf, std::sinh, 2}, Function{"coshf", opsight_coshf, std::cosh, 2},
                    Function{"tanhf", opsight_tanhf, std::tanh, 2}, Function{"logf", opsight_logf, std::log, 1},
                    Function{"log2f", opsight_log2f, std::log2, 1}, Function{"log10f", opsight_log10f, std::log10, 1},
                    Function{"log1pf", opsight_log1pf, std::log1p, 1},
                    Function{"asinhf", opsight_asinhf, std::asinh, 2},
                    Function{"acoshf", opsight_acoshf, std::acosh, 2},
                    Function{"atanhf", opsight_atanhf, std::atanh, 2}, Function{"sinf", opsight_sinf, std::sin, 2},
                    Function{"cosf", opsight_cosf, std::cos, 2}, Function{"tanf", opsight_tanf, std::tan, 3},
                    Function{"sinpif", opsight_sinpif, sineOfPi, 2}, Function{"cospif", opsight_cospif, cosineOfPi, 2},
                    Function{"asinf", opsight_asinf, std::asin, 2}, Function{"acosf", opsight_acosf, std::acos, 2},
                    Function{"atanf", opsight_atanf, std::atan, 2}, Function{"cbrtf", opsight_cbrtf, std::cbrt, 1},
                    Function{"erff", opsight_erff, std::erf, 2}, Function{"erfcf", opsight_erfcf, std::erfc, 4},
                    Function{"normcdff", opsight_normcdff, normalDistribution, 5},
                    Function{"erfcxf", opsight_erfcxf, scaledErfc, 4}),
    [](const auto &info) { return std::string(info.param.name); });

namespace {
/// A reproducible stream of floats: half of them any bit pattern, half of moderate size.
class Floats {
public:
  float next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    uint32_t word = uint32_t(state_ >> 32);
    return state_ >> 31 & 1 ? std::bit_cast<float>(word) : std::bit_cast<float>((word & 0x83ffffffu) + 0x3e000000u);
  }

private:
  uint64_t state_ = 1;
};
} // namespace

template <class Ours, class Exact> static void comparePairs(Ours ours, Exact exact, double bound) {
  Floats floats;
  auto tryOne = [&](float x, float y) {
    ASSERT_LE(ulps(ours(x, y), exact(x, y)), bound)
        << x << ", " << y << " give " << ours(x, y) << ", not " << exact(x, y);
  };
  for (int i = 0; i < 200000; ++i)
    ASSERT_NO_FATAL_FAILURE(tryOne(floats.next(), floats.next()));
  for (float x : hardFloats())
    for (float y : hardFloats())
      ASSERT_NO_FATAL_FAILURE(tryOne(x, y));
}

TEST(MathematicsOfPairs, PowerStaysWithinOneUlp) {
  comparePairs(
      opsight_powf, [](double x, double y) { return std::pow(x, y); }, 1);
}
TEST(MathematicsOfPairs, Atan2StaysWithinThreeUlp) {
  comparePairs(
      opsight_atan2f, [](double y, double x) { return std::atan2(y, x); }, 3);
}
TEST(MathematicsOfPairs, HypotenuseStaysWithinOneUlp) {
  comparePairs(
      opsight_hypotf, [](double x, double y) { return std::hypot(x, y); }, 1);
}
TEST(MathematicsOfPairs, ReciprocalHypotenuseStaysWithinOneUlp) {
  comparePairs(
      opsight_rhypotf, [](double x, double y) { return 1 / std::hypot(x, y); }, 1);
}
TEST(MathematicsOfPairs, NeighboursAreExact) {
  auto neighbour = [](double x, double y) { return double(std::nextafter(float(x), float(y))); };
  comparePairs(opsight_nextafterf, neighbour, 0);
}
TEST(MathematicsOfPairs, RemaindersAreExact) {
  comparePairs(
      opsight_remainderf, [](double x, double y) { return std::remainder(x, y); }, 0);
  for (float x = -40; x <= 40; x += 0.25f)
    for (float y = -8; y <= 8; y += 0.5f)
      ASSERT_EQ(ulps(opsight_remainderf(x, y), double(std::remainder(x, y))), 0) << x << ", " << y;
  comparePairs(
      opsight_fmodf, [](double x, double y) { return std::fmod(x, y); }, 0);
}
TEST(MathematicsOfPairs, NormOfThreeAndFourAgreeWithTheHypotenuse) {
  auto three = [](float x, float y) { return opsight_norm3df(x, 3.0f, y); };
  comparePairs(
      three, [](double x, double y) { return std::hypot(std::hypot(x, y), 3.0); }, 1);
  auto four = [](float x, float y) { return opsight_norm4df(x, 2.0f, y, -1.0f); };
  comparePairs(
      four, [](double x, double y) { return std::hypot(std::hypot(x, y), std::sqrt(5.0)); }, 1);
}

namespace {
struct DoubleFunction {
  const char *name;
  double (*ours)(double);
  long double (*exact)(long double);
};
} // namespace
class MathematicsOfDoubles : public testing::TestWithParam<DoubleFunction> {};

TEST_P(MathematicsOfDoubles, StaysWithinTwoUlp) {
  const DoubleFunction &function = GetParam();
  double worst = 0, at = 0;
  auto tryOne = [&](double x) {
    if (double error = ulps(function.ours(x), function.exact(x)); error > worst)
      worst = error, at = x;
  };
  uint64_t state = 1;
  for (int i = 0; i < 60000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    double any = std::bit_cast<double>(state), unit = double(state >> 11) * 0x1p-53;
    for (double x : {any, 1500 * unit - 750, unit + 0.5, 2000 * unit - 1000})
      tryOne(x);
  }
  for (float x : hardFloats())
    tryOne(x);
  for (double x : {0x1p-1074, 0x1p-1022, 709.78, -745.2, 1024.0, -1075.0, 1.7976931348623157e308})
    tryOne(x);
  RecordProperty("ulp", std::to_string(worst));
  EXPECT_LE(worst, 2) << function.name << "(" << at << ") is " << function.ours(at);
}

INSTANTIATE_TEST_SUITE_P(
    Double, MathematicsOfDoubles,
    testing::Values(DoubleFunction{"exp", opsight_exp, std::exp}, DoubleFunction{"exp2", opsight_exp2, std::exp2},
                    DoubleFunction{"exp10", opsight_exp10, ::exp10l},
                    DoubleFunction{"expm1", opsight_expm1, std::expm1}, DoubleFunction{"sinh", opsight_sinh, std::sinh},
                    DoubleFunction{"cosh", opsight_cosh, std::cosh}, DoubleFunction{"log", opsight_log, std::log},
                    DoubleFunction{"log2", opsight_log2, std::log2}, DoubleFunction{"log10", opsight_log10, std::log10},
                    DoubleFunction{"tanh", opsight_tanh, std::tanh}),
    [](const auto &info) { return std::string(info.param.name); });

template <class T> static void compareScaling(T (*scale)(T, int), T (*fraction)(T), int (*exponent)(T), T x) {
  for (int n : {-3000, -2100, -1075, -1074, -300, -150, -149, -126, -25, -1, 0, 1, 24, 127, 128, 277, 1023, 2100, 3000})
    ASSERT_EQ(ulps(scale(x, n), std::ldexp(x, n)), 0) << x << " by 2^" << n << " is " << scale(x, n);
  int right = 0;
  T part = std::frexp(x, &right);
  ASSERT_EQ(ulps(fraction(x), part), 0) << x;
  if (std::isfinite(x)) // C leaves the exponent of others open
    ASSERT_EQ(exponent(x), right) << x;
}

TEST(MathematicsOfScaling, IsExact) {
  Floats floats;
  for (int i = 0; i < 20000; ++i) {
    float x = floats.next();
    ASSERT_NO_FATAL_FAILURE(compareScaling(opsight_ldexpf, opsight_frexp_fractionf, opsight_frexp_exponentf, x));
    double wide = double(x) * (i & 1 ? 1.0 : 0x1.23456789abcdep-900);
    ASSERT_NO_FATAL_FAILURE(compareScaling(opsight_ldexp, opsight_frexp_fraction, opsight_frexp_exponent, wide));
  }
}

// What the vectoriser relies on. The scaling by a power of two is a function, so that a processor's instruction may
// replace it; it is inlined like the rest.
TEST(MathematicsLibrary, IsStraightCodeWithoutCallsOrMemory) {
  llvm::LLVMContext context;
  llvm::StringRef bytes(reinterpret_cast<const char *>(opsight_mathematics), opsight_mathematics_size);
  auto library = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "mathematics"), context);
  ASSERT_TRUE(bool(library)) << llvm::toString(library.takeError());
  size_t functions = 0;
  for (llvm::Function &function : **library) {
    if (function.isDeclaration())
      continue;
    ++functions;
    EXPECT_EQ(function.size(), 1u) << function.getName().str();
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      EXPECT_FALSE(instruction.mayReadOrWriteMemory() && !llvm::isa<llvm::CallBase>(instruction))
          << function.getName().str();
      auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      EXPECT_TRUE(!call || call->getCalledFunction()->isIntrinsic() ||
                  call->getCalledFunction()->getName().starts_with("opsight_scale"))
          << function.getName().str() << " calls " << call->getCalledFunction()->getName().str();
    }
  }
  EXPECT_GE(functions, 40u);
}

} // namespace opsight::lower
