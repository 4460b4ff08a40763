// Values that the headers must give, folded by the compiler itself: what is stored is what a card would compute.
#include "compiled.h"
#include <bit>
#include <cmath>

namespace opsight::testing {
namespace {
constexpr const char *half = "#include <cuda_fp16.h>\n";
constexpr const char *bfloat = "#include <cuda_bf16.h>\n";

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }

TEST(Values, min_and_max_neither_truncate_nor_mix_up_signs) {
  auto wide = folded("long long", 8, {"max(3000000000LL, 1LL)", "min(-5L, 3L)", "(long long)max(18446744073709551615ull, 1ull)"});
  EXPECT_EQ(wide[0], 3000000000u);
  EXPECT_EQ(wide[1], uint64_t(-5));
  EXPECT_EQ(wide[2], ~uint64_t(0));
  auto mixed = folded("unsigned", 4, {"max(-3, 4u)", "min(-3, 4u)", "max(4u, -3)"});
  EXPECT_EQ(mixed[0], 4294967293u);
  EXPECT_EQ(mixed[1], 4u);
  EXPECT_EQ(mixed[2], 4294967293u);
  EXPECT_EQ(folded("float", 4, {"min(0.25f, 0.75f)"})[0], bits(0.25f));
  auto asDouble = folded("double", 8, {"max(1.5f, 2.25)", "min(1.5f, 0.1)"});
  EXPECT_EQ(asDouble[0], bits(2.25));
  EXPECT_EQ(asDouble[1], bits(0.1));
}

TEST(Values, a_number_beats_nan_in_fmax_and_std_min_returns_its_first) {
  auto v = folded("float", 4, {"fmaxf(NAN, 1.0f)", "fmaxf(1.0f, NAN)", "fminf(NAN, -INFINITY)", "fmin(2.0f, NAN)",
                               "std::min(2.0f, (float)NAN)", "std::max(3.0f, (float)NAN)"});
  EXPECT_EQ(v[0], bits(1.0f));
  EXPECT_EQ(v[1], bits(1.0f));
  EXPECT_EQ(v[2], bits(-INFINITY));
  EXPECT_EQ(v[3], bits(2.0f));
  EXPECT_EQ(v[4], bits(2.0f));
  EXPECT_EQ(v[5], bits(3.0f));
}

TEST(Values, bfloat16_rounds_to_nearest_even_and_keeps_nan) {
  auto from = [](const char *word) {
    return std::string("__bfloat16_as_ushort(__float2bfloat16(__uint_as_float(") + word + "u)))";
  };
  auto v = folded("unsigned short", 2, {from("0x3E89CCD5"), from("0x3F808000"), from("0x3F818000"), from("0x7F7FFFFF"),
                                        from("0x7F800001"), from("0xFF800000"), from("0x80000000"),
                                        "__bfloat16_as_ushort(__float2bfloat16_rz(__uint_as_float(0x3E89CCD5u)))",
                                        "__bfloat16_as_ushort(__double2bfloat16(1.0 + 0x1p-8 + 0x1p-40))",
                                        "__bfloat16_as_ushort(__float2bfloat16(1.5f) * __float2bfloat16(-2.0f))"},
                  bfloat);
  EXPECT_EQ(v[0], 0x3E8Au);
  EXPECT_EQ(v[1], 0x3F80u);
  EXPECT_EQ(v[2], 0x3F82u);
  EXPECT_EQ(v[3], 0x7F80u);
  EXPECT_EQ(v[4], 0x7FFFu);
  EXPECT_EQ(v[5], 0xFF80u);
  EXPECT_EQ(v[6], 0x8000u);
  EXPECT_EQ(v[7], 0x3E89u);
  EXPECT_EQ(v[8], 0x3F81u) << "rounded twice";
  EXPECT_EQ(v[9], 0xC040u);
}

TEST(Values, directed_half_conversions_honour_their_direction) {
  auto to = [](const char *how, const char *word) {
    return std::string("__half_as_ushort(__float2half_") + how + "(__uint_as_float(" + word + "u)))";
  };
  auto v = folded("unsigned short", 2, {to("rz", "0x39587FFF"), to("rz", "0x39588000"), to("rz", "0x39587000"),
                                        to("rn", "0x39587FFF"), to("rz", "0xB9587FFF"), to("ru", "0xB9587FFF"),
                                        to("rd", "0xB9587FFF"), "__half_as_ushort(__float2half_rz(65519.9f))",
                                        "__half_as_ushort(__float2half_rn(65520.0f))", to("rd", "0x00000001"),
                                        to("ru", "0x00000001"), to("ru", "0x39587001")},
                  half);
  EXPECT_EQ(v[0], 0x0AC3u);
  EXPECT_EQ(v[1], 0x0AC4u);
  EXPECT_EQ(v[2], 0x0AC3u);
  EXPECT_EQ(v[3], 0x0AC4u);
  EXPECT_EQ(v[4], 0x8AC3u);
  EXPECT_EQ(v[5], 0x8AC3u);
  EXPECT_EQ(v[6], 0x8AC4u);
  EXPECT_EQ(v[7], 0x7BFFu) << "65504";
  EXPECT_EQ(v[8], 0x7C00u);
  EXPECT_EQ(v[9], 0x0000u);
  EXPECT_EQ(v[10], 0x0001u);
  EXPECT_EQ(v[11], 0x0AC4u);
}

TEST(Values, half_arithmetic_rounds_in_half_and_keeps_subnormals) {
  auto v = folded("unsigned short", 2, {"__half_as_ushort(__float2half(2048.0f) + __float2half(1.0f))",
                                        "__half_as_ushort(__hmul(__float2half(6e-8f), __float2half(1.0f)))",
                                        "__half_as_ushort(__hfma(__float2half(2.0f), __float2half(3.0f), __float2half(1.0f)))",
                                        "__half_as_ushort(half(3) / half(2))",
                                        "__half_as_ushort(__hadd_sat(__float2half(0.75f), __float2half(0.75f)))"},
                  half);
  EXPECT_EQ(v[0], 0x6800u);
  EXPECT_EQ(v[1], 0x0001u);
  EXPECT_EQ(v[2], 0x4700u);
  EXPECT_EQ(v[3], 0x3E00u);
  EXPECT_EQ(v[4], 0x3C00u);
}

TEST(Values, half_maximum_is_element_wise_and_ieee) {
  auto v = folded("unsigned short", 2,
                  {"__half_as_ushort(__hmax2(make_half2(-1, 2), make_half2(3, -4)).x)",
                   "__half_as_ushort(__hmax2(make_half2(-1, 2), make_half2(3, -4)).y)",
                   "__half_as_ushort(__hmax(CUDART_NEG_ZERO_FP16, CUDART_ZERO_FP16))",
                   "__half_as_ushort(__hmax(CUDART_ZERO_FP16, CUDART_NEG_ZERO_FP16))",
                   "__half_as_ushort(__hmax(CUDART_NAN_FP16, CUDART_ONE_FP16))",
                   "__half_as_ushort(__hmin(CUDART_ONE_FP16, CUDART_NAN_FP16))",
                   "__half_as_ushort(__hmax(CUDART_MIN_DENORM_FP16, CUDART_ZERO_FP16))",
                   "__hisnan(__hmax_nan(CUDART_NAN_FP16, CUDART_ONE_FP16))"},
                  half);
  EXPECT_EQ(v[0], 0x4200u);
  EXPECT_EQ(v[1], 0x4000u);
  EXPECT_EQ(v[2], 0u);
  EXPECT_EQ(v[3], 0u);
  EXPECT_EQ(v[4], 0x3C00u);
  EXPECT_EQ(v[5], 0x3C00u);
  EXPECT_EQ(v[6], 1u);
  EXPECT_EQ(v[7], 1u);
}

TEST(Values, bits_bytes_and_casts) {
  auto v = folded("unsigned", 4, {"__byte_perm(0x11223344, 0, 0x0123)", "__popc(0xF0F0u)", "__clz(0)", "__clz(1)", "__ffs(0)",
                                  "__ffs(8)", "__brev(1u)", "__umulhi(0x80000000u, 6u)", "__float_as_uint(1.0f)",
                                  "__funnelshift_l(0x80000000u, 1u, 1u)", "__funnelshift_lc(5u, 1u, 40u)",
                                  "(unsigned)__mul24(-2, 3)", "__sad(-5, 3, 10u)", "__byte_perm(0x80, 0, 0x8888)"});
  EXPECT_EQ(v[0], 0x44332211u);
  EXPECT_EQ(v[1], 8u);
  EXPECT_EQ(v[2], 32u);
  EXPECT_EQ(v[3], 31u);
  EXPECT_EQ(v[4], 0u);
  EXPECT_EQ(v[5], 4u);
  EXPECT_EQ(v[6], 0x80000000u);
  EXPECT_EQ(v[7], 3u);
  EXPECT_EQ(v[8], 0x3F800000u);
  EXPECT_EQ(v[9], 3u);
  EXPECT_EQ(v[10], 5u);
  EXPECT_EQ(v[11], uint32_t(-6));
  EXPECT_EQ(v[12], 18u);
  EXPECT_EQ(v[13], 0xFFFFFFFFu);
  auto wide = folded("unsigned long long", 8, {"__umul64hi(0x8000000000000000ull, 6ull)", "(unsigned long long)__mul64hi(-1LL, 5LL)",
                                               "(unsigned long long)__double_as_longlong(1.0)", "__brevll(1ull)"});
  EXPECT_EQ(wide[0], 3u);
  EXPECT_EQ(wide[1], ~uint64_t(0));
  EXPECT_EQ(wide[2], bits(1.0));
  EXPECT_EQ(wide[3], uint64_t(1) << 63);
}

TEST(Values, conversions_to_integers_round_as_named_and_saturate) {
  auto v = folded("int", 4, {"__float2int_rn(2.5f)", "__float2int_rz(-2.7f)", "__float2int_rd(-2.1f)", "__float2int_ru(2.1f)",
                             "__float2int_rn(3e10f)", "__float2int_rn(-3e10f)", "__float2int_rn(NAN)",
                             "(int)__float2uint_rz(-4.0f)", "__double2int_rn(2147483646.5)"});
  const int32_t expected[] = {2, -2, -3, 3, INT32_MAX, INT32_MIN, 0, 0, 2147483646};
  for (size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(int32_t(v[i]), expected[i]) << i;
  auto f = folded("float", 4, {"__double2float_rz(0.1)", "__double2float_ru(0.1)", "__double2float_rd(-0.1)"});
  EXPECT_EQ(f[0], 0x3DCCCCCCu);
  EXPECT_EQ(f[1], 0x3DCCCCCDu);
  EXPECT_EQ(f[2], 0xBDCCCCCDu);
}

TEST(Values, vectors_have_cudas_sizes_and_alignments) {
  auto v = folded("int", 4, {"sizeof(float3)", "alignof(float4)", "alignof(double2)", "sizeof(char3)", "alignof(float2)",
                             "make_int4(1, 2, 3, 4).w", "(int)dim3(7).y", "sizeof(dim3)", "alignof(ushort4)"});
  const uint32_t expected[] = {12, 16, 16, 3, 8, 4, 1, 12, 8};
  for (size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(v[i], expected[i]) << i;
}

TEST(Values, denormals_are_not_flushed) {
  EXPECT_EQ(folded("float", 4, {"1e-40f * 0.5f"})[0], bits(5e-41f));
}
} // namespace
} // namespace opsight::testing
