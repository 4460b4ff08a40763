// What a user takes home works without Opsight: a C program links the library in artifact/ and gets attention right.
#include "base/file.h"
#include "port/artifact_files.h"
#include "port/contains.h"
#include "port/recipe.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace opsight::port {
namespace {
namespace fs = std::filesystem;

/// Attention of one head over 70 rows, so that the last tile is not full, against a plain evaluation in double precision.
constexpr const char *program = R"(
#include "HEADER"
#include <math.h>
enum { n = 70, d = 64 };
static float q[n * d], k[n * d], v[n * d], o[n * d], lse[n];
static float noise(void) { static uint32_t s = 1; s = s * 1664525u + 1013904223u; return (float)(s >> 8) / 8388608.0f - 1; }
int main(void) {
  for (int i = 0; i < n * d; ++i) q[i] = noise(), k[i] = noise(), v[i] = noise(), o[i] = NAN;
  const uint32_t grid[3] = {(n + 63) / 64, 1, 1};
  ENTRY_run(grid, 0, grid[0], q, k, v, o, lse, 1, 1, 1, n, n, 0.125f, 0);
  for (int i = 0; i < n; ++i) {
    double weight[n], sum = 0;
    for (int j = 0; j < n; ++j) {
      double score = 0;
      for (int c = 0; c < d; ++c) score += (double)q[i * d + c] * k[j * d + c];
      sum += weight[j] = exp(score * 0.125);
    }
    for (int c = 0; c < d; ++c) {
      double want = 0;
      for (int j = 0; j < n; ++j) want += weight[j] / sum * v[j * d + c];
      if (!(fabs(o[i * d + c] - want) < 2e-6)) return 1;
    }
  }
  return 0;
}
)";

std::string replaced(std::string text, const std::string &what, const std::string &by) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

class ArtifactFiles : public testing::Test {
protected:
  void SetUp() override {
    setenv("OPSIGHT_ROOT", OPSIGHT_SOURCE_DIR, 1);
    folder = fs::temp_directory_path() / ("opsight-artifact-" + std::to_string(::getpid()));
    request.op = *ops::findOperator("scaled_dot_product_attention");
    request.options = *request.op->completeOptions({});
    sample = request.op->speedCase(request.options);
    profile.ir = "native";
    profile.mapping = card::Mapping::Simd;
  }
  void TearDown() override { fs::remove_all(folder); }

  /// The files of the recipe's build for the sample, after `also` was built too.
  std::vector<FileText> files(std::initializer_list<ops::Case> also = {}) {
    Result<Proposal> recipe = proposeRecipe(request, {profile, {}});
    if (!recipe)
      return {};
    SourceCandidate candidate(*request.op, recipe->kernelWith(recipe->first), {profile, {}});
    for (const ops::Case &c : also)
      EXPECT_TRUE(candidate.prepare(c));
    auto built = candidate.prepare(sample);
    EXPECT_TRUE(built) << describe(built.error());
    return built ? artifactFiles(std::get<judge::Build>(*built), candidate, candidate.symbolsOf(sample)) : std::vector<FileText>();
  }
  ops::Case ofHeadDimension(int64_t size) {
    ops::Case c;
    c.symbols = {{"L", 8}, {"D", size}};
    c.options = request.options;
    return *request.op->completeCase(c);
  }

  fs::path folder;
  Request request;
  card::Profile profile;
  ops::Case sample;
};

TEST_F(ArtifactFiles, aCProgramLinksThemAndIsRight) {
  std::string library, header;
  for (const FileText &file : files()) {
    ASSERT_TRUE(writeFile(folder / file.name, file.bytes));
    if (file.name.ends_with(".so"))
      library = file.name;
    if (file.name.ends_with(".h"))
      header = file.name;
  }
  ASSERT_NE(library, "");
  ASSERT_NE(header, "");
  std::string entry = header.substr(0, header.size() - 2);
  ASSERT_TRUE(writeFile(folder / "main.c", replaced(replaced(program, "HEADER", header), "ENTRY", entry)));
  // Linked by name, as make files do; the library is found by its soname.
  std::string where = folder.string();
  std::string build = "clang-22 -std=c11 -Wall -Werror -Wno-implicit-const-int-float-conversion " + where + "/main.c -L" + where +
                      " -l" + entry + " -lm -Wl,-rpath," + where + " -o " + where + "/main";
  ASSERT_EQ(std::system(build.c_str()), 0);
  EXPECT_EQ(std::system((where + "/main").c_str()), 0);
}

TEST_F(ArtifactFiles, everyOtherBuildIsShippedAndListed) {
  std::vector<FileText> all = files({ofHeadDimension(32), ofHeadDimension(16)});
  auto manifest = std::ranges::find(all, "manifest.json", &FileText::name);
  ASSERT_NE(manifest, all.end());
  auto json = nlohmann::json::parse(manifest->bytes);
  EXPECT_EQ(json["built_for"]["D"], sample.symbols.at("D"));
  ASSERT_EQ(json["other_builds"].size(), 2u);
  for (const auto &other : json["other_builds"]) {
    EXPECT_TRUE(contains(all, other["folder"].get<std::string>() + "/manifest.json", &FileText::name)) << other;
    EXPECT_NE(other["defines"].get<std::string>().find("HEAD_DIM="), std::string::npos);
  }
}

} // namespace
} // namespace opsight::port
