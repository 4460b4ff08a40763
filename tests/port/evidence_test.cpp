// Evidence for hints comes from the IR: the recipe shows what it was built with, and nothing else passes for it.
#include "base/file.h"
#include "port/evidence.h"
#include "port/hint.h"
#include "port/recipe.h"
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace opsight;
using namespace opsight::port;
using testing::HasSubstr;

namespace {

class Evidence : public testing::Test {
protected:
  void SetUp() override {
    setenv("OPSIGHT_ROOT", OPSIGHT_SOURCE_DIR, 1);
    request.op = *ops::findOperator("scaled_dot_product_attention");
    request.options = *request.op->completeOptions({});
    sample = request.op->speedCase(request.options);
    verdict.accuracy.pass = true;
    verdict.accuracy.cases.resize(3);
    profile.mapping = card::Mapping::Simd;
  }
  static std::vector<Hint> hints(std::initializer_list<const char *> texts) {
    std::vector<Hint> all;
    for (const char *text : texts)
      all.push_back(*parseHint(text));
    return all;
  }
  SourceKernel recipe(std::initializer_list<const char *> texts) {
    request.hints = hints(texts);
    Result<Proposal> proposal = proposeRecipe(request, {profile, {}});
    EXPECT_TRUE(proposal) << describe(proposal.error());
    return proposal->kernelWith(proposal->first);
  }
  std::vector<HintResult> judge(SourceKernel kernel, std::initializer_list<const char *> texts) {
    SourceCandidate candidate(*request.op, std::move(kernel), {});
    Result<std::vector<HintResult>> results = evidenceFor(hints(texts), candidate, sample, verdict, [&] { return traffic; });
    EXPECT_TRUE(results) << describe(results.error());
    return results ? *results : std::vector<HintResult>{};
  }
  Request request;
  card::Profile profile;
  ops::Case sample;
  judge::Verdict verdict;
  Result<SharedTraffic> traffic = noVerdict("nothing is watched");
};

/// `step` bytes between neighbouring threads.
sight::SiteAccesses siteOf(const char *variable, uint64_t taken, uint64_t ideal, uint64_t step) {
  sight::SiteAccesses site;
  site.site.bytes = 4;
  site.variable = variable;
  site.requests = ideal, site.taken = taken, site.ideal = ideal;
  sight::Sample sample{{}, ~0u};
  for (size_t lane = 0; lane < 32; ++lane)
    sample.addresses[lane] = lane * step;
  site.samples = {sample};
  return site;
}

TEST_F(Evidence, recipeKeepsTheFiveConstraints) {
  auto all = {"softmax=online", "softmax=max-before-sum", "tile=64x64", "reduce-stride=4", "kv=shared,row-major",
              "order=accuracy-first"};
  std::vector<HintResult> results = judge(recipe(all), all);
  ASSERT_EQ(results.size(), 7u);
  for (const HintResult &result : results) {
    if (result.hint.value == "shared") {
      EXPECT_EQ(result.kept, std::nullopt);
      EXPECT_THAT(result.evidence, HasSubstr("does not apply"));
    } else
      EXPECT_EQ(result.kept, true) << result.hint.key << "=" << result.hint.value << ": " << result.evidence;
  }
}

TEST_F(Evidence, anotherInstanceDoesNotPassForTheOneAsked) {
  SourceKernel other = recipe({"tile=32x64", "reduce-stride=2"});
  std::vector<HintResult> results = judge(other, {"tile=64x64", "reduce-stride=4"});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].kept, false) << results[0].evidence;
  EXPECT_EQ(results[1].kept, false) << results[1].evidence;
  results = judge(other, {"tile=32x64", "reduce-stride=2"});
  EXPECT_EQ(results[0].kept, true) << results[0].evidence;
  EXPECT_EQ(results[1].kept, true) << results[1].evidence;
}

TEST_F(Evidence, phasesInAnotherOrderAreNotKept) {
  auto folder = std::filesystem::temp_directory_path() / ("opsight-evidence-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::string text = *readFile(dataRoot() / "kernels/attention/flash_simd.cu");
  std::string maximum = "    attention::local_maximum<reduce_stride>(maximum, scores, reach);\n";
  std::string sum = "    attention::rescale_and_sum<reduce_stride>(scores, state, factor, maximum, reach);\n";
  size_t at = text.find(maximum + sum);
  ASSERT_NE(at, text.npos) << "flash_simd.cu calls its phases differently now";
  text.replace(at, maximum.size() + sum.size(), sum + maximum);
  std::ofstream(folder / "swapped.cu") << text;
  SourceKernel swapped = recipe({"softmax=online"});
  swapped.file = folder / "swapped.cu";
  std::vector<HintResult> results = judge(swapped, {"softmax=online"});
  std::filesystem::remove_all(folder);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].kept, false) << results[0].evidence;
}

TEST_F(Evidence, kernelWithoutPhasesShowsNothing) {
  SourceKernel naive;
  naive.file = dataRoot() / "examples/sdpa/naive.cu";
  std::vector<HintResult> results =
      judge(naive, {"softmax=online", "softmax=max-before-sum", "tile=64x64", "reduce-stride=4"});
  ASSERT_EQ(results.size(), 4u);
  for (const HintResult &result : results)
    EXPECT_EQ(result.kept, false) << result.hint.key << ": " << result.evidence;
}

TEST_F(Evidence, recipeRefusesWhatItCannotKeep) {
  for (const char *text : {"tile=60x64", "tile=64x40", "reduce-stride=3", "kv=column-major"}) {
    request.hints = hints({text});
    Result<Proposal> proposal = proposeRecipe(request, {profile, {}});
    ASSERT_FALSE(proposal) << text;
    EXPECT_EQ(proposal.error().kind, ErrorKind::Unsupported);
  }
}

TEST_F(Evidence, recipeOfSharedTilesRefusesWhatItCannotKeep) {
  request.mapping = "simt";
  for (const char *text : {"tile=48x64", "tile=128x64", "tile=64x512", "reduce-stride=16", "kv=column-major"}) {
    request.hints = hints({text});
    Result<Proposal> proposal = proposeRecipe(request, {profile, {}});
    ASSERT_FALSE(proposal) << text;
    EXPECT_EQ(proposal.error().kind, ErrorKind::Unsupported);
  }
}

TEST_F(Evidence, mappingThatIsAskedForWinsOverTheCardsOwn) {
  EXPECT_EQ(recipe({"softmax=online"}).name, "recipe/flash_simd");
  request.mapping = "simt";
  EXPECT_EQ(recipe({"softmax=online"}).name, "recipe/flash_simt");
  request.mapping.clear();
  profile.mapping = card::Mapping::Simt;
  EXPECT_EQ(recipe({"softmax=online"}).name, "recipe/flash_simt");
}

TEST_F(Evidence, recipeOfSharedTilesKeepsTheFiveConstraintsLiterally) {
  request.mapping = "simt";
  traffic = SharedTraffic{"a case", {siteOf("memory", 100, 100, 4)}, {siteOf("key", 40, 40, 4), siteOf("value", 40, 40, 4)}};
  auto all = {"softmax=online", "softmax=max-before-sum", "tile=64x64", "reduce-stride=4", "kv=shared,row-major",
              "order=accuracy-first"};
  std::vector<HintResult> results = judge(recipe(all), all);
  ASSERT_EQ(results.size(), 7u);
  for (const HintResult &result : results)
    EXPECT_EQ(result.kept, true) << result.hint.key << "=" << result.hint.value << ": " << result.evidence;
  results = judge(recipe({"tile=32x64", "reduce-stride=2"}), {"tile=64x64", "reduce-stride=4"});
  EXPECT_EQ(results[0].kept, false) << results[0].evidence;
  EXPECT_EQ(results[1].kept, false) << results[1].evidence;
}

TEST_F(Evidence, oneConflictOrOneColumnReadIsNotKept) {
  request.mapping = "simt";
  SourceKernel kernel = recipe({"kv=shared,row-major"});
  auto key = siteOf("key", 40, 40, 4), value = siteOf("value", 40, 40, 4);
  traffic = SharedTraffic{"a case", {siteOf("memory", 101, 100, 4)}, {key, value}};
  std::vector<HintResult> results = judge(kernel, {"kv=shared,row-major"});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].kept, true) << results[0].evidence;
  EXPECT_EQ(results[1].kept, false) << results[1].evidence;
  traffic = SharedTraffic{"a case", {siteOf("memory", 100, 100, 4)}, {siteOf("key", 320, 40, 256), value}};
  EXPECT_EQ(judge(kernel, {"kv=shared,row-major"})[0].kept, false);
  traffic = SharedTraffic{"a case", {siteOf("memory", 100, 100, 4)}, {key}}; // V is never read
  EXPECT_EQ(judge(kernel, {"kv=shared,row-major"})[0].kept, false);
  traffic = noVerdict("nothing is watched");
  EXPECT_EQ(judge(kernel, {"kv=shared,row-major"})[0].kept, std::nullopt);
}

TEST_F(Evidence, hintsOfAttentionHaveNoBearingOnOtherOperators) {
  auto of = [&](const char *name) {
    request.op = *ops::findOperator(name);
    request.options = *request.op->completeOptions({});
    sample = request.op->speedCase(request.options);
  };
  of("softmax");
  auto all = {"softmax=online", "tile=64x64", "reduce-stride=4", "kv=shared,row-major"};
  for (const HintResult &result : judge(recipe(all), all))
    EXPECT_EQ(result.kept, std::nullopt) << result.hint.key << ": " << result.evidence;
  of("matmul");
  EXPECT_EQ(judge(recipe({"tile=96x128"}), {"tile=96x128"})[0].kept, true);
  EXPECT_EQ(judge(recipe({"tile=96x128"}), {"tile=96x256"})[0].kept, false);
}

} // namespace
