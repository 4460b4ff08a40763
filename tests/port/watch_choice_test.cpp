// Which problem sight watches: small, whole blocks, ordinary data, and the user's own before all.
#include "port/see.h"
#include <gmock/gmock.h>

using namespace opsight;
using namespace opsight::port;

namespace {

class WatchChoices : public testing::Test {
protected:
  void SetUp() override {
    request.op = *ops::findOperator("scaled_dot_product_attention");
    request.options = *request.op->completeOptions({});
    request.launch.grid = {{"ceil_div(L, 64)"}, {"H"}, {"B"}};
    request.launch.block = {{"64"}};
  }
  Result<std::vector<WatchChoice>> cases() {
    return watchChoices(request, SourceCandidate(*request.op, faithful(request), CardTarget{}));
  }
  void ask(const Symbols &symbols) {
    ops::Case c;
    c.symbols = symbols, c.options = request.options;
    request.cases.push_back(*request.op->completeCase(c));
  }
  Request request;
};

TEST_F(WatchChoices, theLargestThatIsShortWholeAndOrdinaryIsFirst) {
  auto all = cases();
  ASSERT_TRUE(all) << describe(all.error());
  EXPECT_EQ(all->front().c.name, "normal B=2 H=4 L=256");
  EXPECT_TRUE(all->front().isWhole);
  EXPECT_TRUE(all->front().isOwn);
}

TEST_F(WatchChoices, wholeMeansThatOneMoreNeedsAnotherBlock) {
  request.launch.grid = {{"ceil_div(L, 100)"}, {"H"}, {"B"}};
  auto all = cases();
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->front().isWhole);
  EXPECT_EQ(all->front().c.symbols.at("L") % 100, 0);
  for (const WatchChoice &each : *all)
    EXPECT_EQ(each.isWhole,
              each.c.symbols.at("L") % 100 == 0 && each.c.symbols.at("L") > 0 && each.c.symbols.at("B") > 0)
        << each.c.name;
}

TEST_F(WatchChoices, wholeIsWhatAGridThatRoundsDownDividesBy) {
  request.launch.grid = {{"L / 64"}, {"1"}, {"1"}};
  auto all = cases();
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->front().isWhole);
  for (const WatchChoice &each : *all)
    EXPECT_EQ(each.isWhole, each.c.symbols.at("L") % 64 == 0 && each.c.symbols.at("L") > 0) << each.c.name;
}

TEST_F(WatchChoices, limitsAreKept) {
  request.limits = {{{"D"}, {128}}};
  auto all = cases();
  ASSERT_TRUE(all);
  for (const WatchChoice &each : *all)
    EXPECT_EQ(each.c.symbols.at("D"), 128) << each.c.name;
}

TEST_F(WatchChoices, theUsersOwnIsFirstUnlessItIsTooMuch) {
  ask({{"B", 1}, {"H", 1}, {"L", 33}, {"S", 70}});
  EXPECT_EQ(cases()->front().c.symbols.at("L"), 33);
  EXPECT_FALSE(cases()->front().isOwn);
  request.cases.clear();
  ask({{"B", 1}, {"H", 8}, {"L", 16384}, {"S", 16384}});
  auto all = cases();
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->front().isOwn);
  EXPECT_THAT(all->front().why, testing::HasSubstr("too much work"));
}

TEST_F(WatchChoices, whereNoneIsWithinTheLimitsThatIsTheUsersError) {
  request.limits = {{{"D"}, {12345}}};
  auto all = cases();
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().kind, ErrorKind::User);
  EXPECT_THAT(all.error().what, testing::HasSubstr("D = "));
}

} // namespace
