// Blocks of several warps as warp_range runs them: barriers, votes, what warps keep, faults, and orders. A vector is four
// threads here.
#include "lower/warp_run.h"
#include <gmock/gmock.h>

namespace opsight::lower {
namespace {

using End = card::Launched::End;
using testing::Each, testing::ElementsAre, testing::HasSubstr;

std::string kernel(const std::string &body) {
  return "define void @kernel(ptr %x, i32 %n, " + warpParameters + ") {\n" + body + "}\n";
}

// Every round each warp hands a vector to its neighbour through shared memory and adds what it gets.
const std::string ring = kernel(R"(
  %own = getelementptr <4 x i32>, ptr %opsight.static, i32 %opsight.warp
  %more = add i32 %opsight.warp, 1
  %right = urem i32 %more, 5
  %other = getelementptr <4 x i32>, ptr %opsight.static, i32 %right
  %one = insertelement <4 x i32> zeroinitializer, i32 %more, i32 0
  %all = shufflevector <4 x i32> %one, <4 x i32> poison, <4 x i32> zeroinitializer
  %lanes = mul <4 x i32> %all, <i32 1, i32 10, i32 100, i32 1000>
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %held = phi <4 x i32> [ %lanes, %0 ], [ %got, %loop ]
  %sum = phi <4 x i32> [ zeroinitializer, %0 ], [ %larger, %loop ]
  store <4 x i32> %held, ptr %own
  call i32 @opsight.barrier(i32 0, i32 0, i32 0)
  %got = load <4 x i32>, ptr %other
  %larger = add <4 x i32> %sum, %got
  call i32 @opsight.barrier(i32 1, i32 0, i32 0)
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  %place = getelementptr <4 x i32>, ptr %x, i32 %opsight.warp
  store <4 x i32> %larger, ptr %place
  ret void
)");

std::vector<int> ringSums(int rounds) {
  std::vector<int> sums;
  for (int warp = 0; warp < 5; ++warp)
    for (int factor : {1, 10, 100, 1000}) {
      int sum = 0;
      for (int round = 1; round <= rounds; ++round)
        sum += (warp + round) % 5 + 1;
      sums.push_back(sum * factor);
    }
  return sums;
}

TEST_F(OnWarps, ValuesOfALoopLiveAcrossItsBarriers) {
  EXPECT_EQ(run(ring, 5, 20, 7), ringSums(7));
  EXPECT_EQ(launched.end, End::Done) << launched.detail;
}

TEST_F(OnWarps, TheOrderOfWarpsDoesNotChangeARightKernel) {
  auto artifact = warpArtifact(ring, 5);
  ASSERT_TRUE(artifact) << describe(artifact.error());
  for (uint64_t order = 0; order < 50; ++order)
    EXPECT_EQ(launch(*artifact, 5, 20, 9, {3, 1, 1}, order), ringSums(9)) << order;
}

TEST_F(OnWarps, AnotherOrderShowsARace) {
  auto artifact = warpArtifact(kernel("  store i32 %opsight.warp, ptr %x\n  ret void\n"), 6);
  ASSERT_TRUE(artifact) << describe(artifact.error());
  EXPECT_EQ(launch(*artifact, 6, 1, 0).at(0), 5) << "ascending: the last warp writes last";
  std::set<int> seen;
  for (uint64_t order = 1; order < 40; ++order)
    seen.insert(launch(*artifact, 6, 1, 0, {}, order).at(0));
  EXPECT_EQ(seen.size(), 6u);
}

TEST_F(OnWarps, WarpsThatReturnedNoLongerCount) {
  // Warp w goes through w + 1 barriers; each counts the threads that are left.
  auto counts = run(kernel(R"(
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %count = call i32 @opsight.barrier(i32 0, i32 1, i32 4)
  %row = shl i32 %opsight.warp, 2
  %at = add i32 %row, %i
  %place = getelementptr i32, ptr %x, i32 %at
  store i32 %count, ptr %place
  %next = add i32 %i, 1
  %again = icmp sle i32 %next, %opsight.warp
  br i1 %again, label %loop, label %exit
exit:
  ret void
)"),
                    4, 16);
  EXPECT_THAT(counts, ElementsAre(16, 0, 0, 0, 16, 12, 0, 0, 16, 12, 8, 0, 16, 12, 8, 4));
  EXPECT_EQ(launched.end, End::Done) << launched.detail;
}

TEST_F(OnWarps, VotesBackToBackKeepApart) {
  auto votes = run(kernel(R"(
  %two = icmp ne i32 %opsight.warp, 2
  %notTwo = zext i1 %two to i32
  %three = icmp eq i32 %opsight.warp, 3
  %isThree = zext i1 %three to i32
  %count = call i32 @opsight.barrier(i32 0, i32 1, i32 %opsight.warp)
  %all = call i32 @opsight.barrier(i32 0, i32 2, i32 %notTwo)
  %yes = call i32 @opsight.barrier(i32 1, i32 2, i32 %count)
  %any = call i32 @opsight.barrier(i32 1, i32 3, i32 %isThree)
  %none = call i32 @opsight.barrier(i32 1, i32 3, i32 %all)
  %a = mul i32 %count, 10000
  %b = mul i32 %all, 1000
  %c = mul i32 %yes, 100
  %d = mul i32 %any, 10
  %ab = add i32 %a, %b
  %abc = add i32 %ab, %c
  %abcd = add i32 %abc, %d
  %abcde = add i32 %abcd, %none
  %place = getelementptr i32, ptr %x, i32 %opsight.warp
  store i32 %abcde, ptr %place
  ret void
)"),
                   4, 4);
  EXPECT_THAT(votes, Each(60110));
}

TEST_F(OnWarps, ArraysOfAWarpLiveAcrossBarriers) {
  auto values = run(kernel(R"(
  %array = alloca [8 x i32], align 32
  %at = urem i32 %opsight.warp, 8
  %slot = getelementptr i32, ptr %array, i32 %at
  store i32 %opsight.warp, ptr %slot
  call i32 @opsight.barrier(i32 0, i32 0, i32 0)
  %v = load i32, ptr %slot
  %place = getelementptr i32, ptr %x, i32 %opsight.warp
  store i32 %v, ptr %place
  ret void
)"),
                    3, 3);
  EXPECT_THAT(values, ElementsAre(0, 1, 2));
}

TEST_F(OnWarps, MasksAndBooleansLiveAcrossBarriers) {
  auto values = run(kernel(R"(
  %v = load <4 x i32>, ptr %x
  %lanes = add <4 x i32> %v, <i32 0, i32 1, i32 2, i32 3>
  %mask = icmp ugt <4 x i32> %lanes, splat (i32 1)
  %loaded = load i32, ptr %x
  %yes = icmp eq i32 %loaded, 0
  call i32 @opsight.barrier(i32 0, i32 0, i32 0)
  %ones = zext <4 x i1> %mask to <4 x i32>
  %one = zext i1 %yes to i32
  %sum = insertelement <4 x i32> %ones, i32 %one, i32 0
  store <4 x i32> %sum, ptr %x
  ret void
)"),
                    1, 4);
  EXPECT_THAT(values, ElementsAre(1, 0, 1, 1));
}

TEST_F(OnWarps, WarpsAtDifferentBarriersAreAFaultThatNamesBoth) {
  run(kernel(R"(
  %first = icmp eq i32 %opsight.warp, 0
  br i1 %first, label %a, label %b
a:
  call i32 @opsight.barrier(i32 0, i32 0, i32 0)
  ret void
b:
  call i32 @opsight.barrier(i32 1, i32 0, i32 0)
  ret void
)"),
      3, 1, 0, {100000, 1, 1});
  EXPECT_EQ(launched.end, End::Barrier);
  EXPECT_THAT(launched.detail, HasSubstr("k.cu:34: barrier reached at two different places: other warps wait at k.cu:12"));
}

TEST_F(OnWarps, AWarpWhosePartComesToABarrierIsAFault) {
  const std::string text = kernel(R"(
  %stray = icmp eq i32 %opsight.warp, %n
  br i1 %stray, label %bad, label %good
bad:
  call void @opsight.fault(i32 1)
  ret void
good:
  call i32 @opsight.barrier(i32 1, i32 0, i32 0)
  ret void
)");
  run(text, 3, 1, 2, {2, 1, 1});
  EXPECT_EQ(launched.end, End::Barrier);
  EXPECT_THAT(launched.detail, HasSubstr("k.cu:34: only part of the threads of a warp come to the barrier"));
  EXPECT_THAT(launched.detail, HasSubstr("warp 2"));
  run(text, 3, 1, 3, {2, 1, 1});
  EXPECT_EQ(launched.end, End::Done);
}

TEST_F(OnWarps, EveryBlockOfAThreeDimensionalGridRunsOnceInAnyOrder) {
  auto artifact = warpArtifact(kernel(R"(
  call i32 @opsight.barrier(i32 0, i32 0, i32 0)
  %z = mul i32 %opsight.block.z, %opsight.grid.y
  %zy = add i32 %z, %opsight.block.y
  %row = mul i32 %zy, %opsight.grid.x
  %at = add i32 %row, %opsight.block.x
  %place = getelementptr i32, ptr %x, i32 %at
  %old = load i32, ptr %place
  %new = add i32 %old, 1
  store i32 %new, ptr %place
  ret void
)"),
                               2);
  ASSERT_TRUE(artifact) << describe(artifact.error());
  for (uint64_t order : {0, 1, 77})
    EXPECT_THAT(launch(*artifact, 2, 300 * 7 * 5, 0, {300, 7, 5}, order), Each(2)) << order;
}

} // namespace
} // namespace opsight::lower
