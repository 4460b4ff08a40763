// What the tuner is given to measure: what hints leave free, what the card can hold, the best by the model first.
#include "port/hint.h"
#include "port/search_order.h"
#include "port/tuning_line.h"
#include <gtest/gtest.h>

using namespace opsight;
using namespace opsight::port;

namespace {

class SearchOrder : public testing::Test {
protected:
  void SetUp() override {
    setenv("OPSIGHT_ROOT", OPSIGHT_SOURCE_DIR, 1);
    attention.op = *ops::findOperator("scaled_dot_product_attention");
    attention.options = *attention.op->completeOptions({});
    profile.mapping = card::Mapping::Simd;
    sample = attention.op->speedCase(attention.options).symbols;
  }
  Proposal recipe(std::initializer_list<const char *> hints) {
    attention.hints.clear();
    for (const char *text : hints)
      attention.hints.push_back(*parseHint(text));
    Result<Proposal> proposal = proposeRecipe(attention, {profile, sample});
    EXPECT_TRUE(proposal) << describe(proposal.error());
    return *proposal;
  }
  /// A kernel of the user's own with two parameters and no model.
  static Request twoParameters() {
    Request request;
    request.op = *ops::findOperator("scaled_dot_product_attention");
    request.source = "own.cu";
    request.kernel = "rows_of<rows, 2>";
    request.launch.grid = {{"ceil_div(L, rows)"}};
    request.launch.block = {{"threads"}};
    request.launch.shared = {"rows * D * 4"};
    request.parameters = {{.name = "rows", .value = 8, .search = {32, 8, 16}, .hint = "tile.rows"},
                          {.name = "threads",
                           .value = 64,
                           .search = {64, 128},
                           .must = {{"threads % rows == 0"}},
                           .why = "a row has whole threads"}};
    return request;
  }

  Request attention;
  card::Profile profile;
  Symbols sample;
};

TEST_F(SearchOrder, onlyWhatHintsLeaveFreeIsSearched) {
  EXPECT_TRUE(recipe({"tile=64x64", "reduce-stride=4"}).others.empty());
  Proposal free = recipe({"softmax=online"});
  EXPECT_FALSE(free.others.empty());
  EXPECT_EQ(std::ranges::count(free.others, free.first), 0);
  for (const Symbols &values : recipe({"tile=64x128"}).others) {
    EXPECT_EQ(values.at("queries"), 64);
    EXPECT_EQ(values.at("keys"), 128);
  }
}

TEST_F(SearchOrder, aHintMayAskForWhatIsNotSearched) { EXPECT_EQ(recipe({"tile=48x80"}).first.at("keys"), 80); }

TEST_F(SearchOrder, followsTheKernelsModel) {
  Proposal free = recipe({"softmax=online"});
  for (size_t i = 1; i < free.others.size(); ++i)
    EXPECT_LE(modelled(*free.declared, free.others[i - 1], sample), modelled(*free.declared, free.others[i], sample));
}

TEST_F(SearchOrder, withoutAModelKeepsTheOrderOfTheLists) {
  Proposal own = proposeSource(twoParameters(), {profile, sample});
  std::vector<std::string> order;
  for (const Symbols &values : own.others)
    order.push_back(valuesText(values));
  EXPECT_EQ(order, (std::vector<std::string>{"rows=32 threads=64", "rows=32 threads=128", "rows=8 threads=128",
                                             "rows=16 threads=64", "rows=16 threads=128"}));
}

TEST_F(SearchOrder, leavesOutWhatTheCardCannotHold) {
  profile.figures = {{"shared_bytes_per_block", 16 * 64 * 4, "bytes", "a test"}};
  sample["D"] = 64;
  Proposal own = proposeSource(twoParameters(), {profile, sample});
  for (const Symbols &values : own.others)
    EXPECT_LE(values.at("rows"), 16);
  EXPECT_EQ(own.leftOut, 2u);
}

TEST_F(SearchOrder, leavesOutWhatHasNoLaunch) {
  Request request = twoParameters();
  request.parameters[0].search = {0, 8, -2};
  request.parameters[1].must.clear();
  for (const Symbols &values : proposeSource(request, {profile, sample}).others)
    EXPECT_EQ(values.at("rows"), 8);
  profile.figures = {{"max_threads_per_block", 64, "threads", "a test"}};
  for (const Symbols &values : proposeSource(request, {profile, sample}).others)
    EXPECT_EQ(values.at("threads"), 64);
}

TEST_F(SearchOrder, leavesOutWhatBreaksARule) {
  Request request = twoParameters();
  request.parameters[0].search = {48, 8};
  for (const Symbols &values : proposeSource(request, {profile, sample}).others)
    EXPECT_EQ(values.at("rows"), 8);
}

TEST_F(SearchOrder, besidesAHintFreesWhatItFixesAlone) {
  Proposal fixed = recipe({"tile=64x64", "reduce-stride=4"});
  const std::string keys[] = {"keys"};
  std::vector<Symbols> others = besides(fixed, fixed.first, keys, {profile, sample});
  ASSERT_FALSE(others.empty());
  for (const Symbols &values : others) {
    EXPECT_EQ(values.at("queries"), 64);
    EXPECT_EQ(values.at("stride"), 4);
    EXPECT_NE(values.at("keys"), 64);
  }
}

TEST_F(SearchOrder, valuesStandInThePlacesOfNames) {
  Proposal own = proposeSource(twoParameters(), {profile, sample});
  SourceKernel kernel = own.kernelWith({{"rows", 16}, {"threads", 128}});
  EXPECT_EQ(kernel.kernel, "rows_of<16, 2>");
  EXPECT_EQ(kernel.launch.grid.front().text, "ceil_div(L, 16)");
  EXPECT_EQ(kernel.launch.block.front().text, "128");
  EXPECT_EQ(kernel.launch.shared.text, "16 * D * 4");
}

} // namespace
