// The comparison of one output: floats by their error, whole numbers bit for bit, and what still holds the poison.
#include "judge/metric.h"
#include <cstring>
#include <gtest/gtest.h>

namespace opsight::judge {
namespace {

using ops::ElementType;

template <class T> ops::Tensor tensorOf(ElementType type, const std::vector<T> &values) {
  ops::Tensor tensor{type, {int64_t(values.size())}, std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

constexpr uint32_t poison = 0x7A123456;

TEST(Metric, ComparesDoublesAsDoubles) {
  auto got = tensorOf<double>(ElementType::Float64, {1 + 1e-12, 2});
  std::vector<double> want = {1, 2};
  Comparison seen = compare(got, {want}, poison);
  EXPECT_NEAR(seen.error, 1e-12, 1e-15);
  EXPECT_EQ(seen.worst, 0);
}

TEST(Metric, WholeNumbersThatDifferAreNeverNearlyEqual) {
  int64_t large = int64_t(1) << 60;
  auto got = tensorOf<int64_t>(ElementType::Int64, {large + 1}), right = tensorOf<int64_t>(ElementType::Int64, {large});
  std::vector<double> want = {double(large)};
  Comparison seen = compare(got, {want, &right}, poison);
  EXPECT_EQ(seen.unequal, 1);
  EXPECT_GE(seen.error, 1);
  EXPECT_EQ(compare(right, {want, &right}, poison).unequal, 0);
}

TEST(Metric, AWholeNumberThatIsThePoisonAndRightIsWritten) {
  auto got = tensorOf<uint32_t>(ElementType::Int32, {poison, poison}), right = tensorOf<uint32_t>(ElementType::Int32, {poison, 5});
  std::vector<double> want = {double(poison), 5};
  Comparison seen = compare(got, {want, &right}, poison);
  EXPECT_EQ(seen.unwritten, 1);
  EXPECT_TRUE(seen.worstUnwritten);
  EXPECT_EQ(seen.worst, 1);
}

TEST(Metric, ABytesValueAloneIsNoPoison) {
  auto right = tensorOf<uint8_t>(ElementType::UInt8, {1, 2, 3, 4, 5, 6});
  std::vector<double> want = {1, 2, 3, 4, 5, 6};
  auto one = tensorOf<uint8_t>(ElementType::UInt8, {0x56, 2, 3, 4, 5, 6});
  EXPECT_EQ(compare(one, {want, &right}, poison).unwritten, 0);
  auto word = tensorOf<uint8_t>(ElementType::UInt8, {0x56, 0x34, 0x12, 0x7A, 5, 6});
  EXPECT_EQ(compare(word, {want, &right}, poison).unwritten, 4);
  auto tail = tensorOf<uint8_t>(ElementType::UInt8, {1, 2, 3, 4, 0x56, 0x34});
  EXPECT_EQ(compare(tail, {want, &right}, poison).unwritten, 2);
}

TEST(Metric, ADoubleIsUnwrittenWhereBothItsWordsAre) {
  uint64_t both = uint64_t(poison) << 32 | poison, half = uint64_t(poison) << 32;
  auto got = tensorOf<uint64_t>(ElementType::Float64, {both, half});
  std::vector<double> want = {0, 0};
  EXPECT_EQ(compare(got, {want}, poison).unwritten, 1);
  EXPECT_EQ(unwrittenIn(got, poison), 1);
}

TEST(Metric, WhatBeganWithDataCannotBeUnwritten) {
  auto got = tensorOf<uint32_t>(ElementType::Float32, {poison});
  std::vector<double> want = {1};
  EXPECT_EQ(compare(got, {want}, std::nullopt).unwritten, 0);
  EXPECT_GT(compare(got, {want}, std::nullopt).error, 1);
}

} // namespace
} // namespace opsight::judge
