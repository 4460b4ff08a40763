// A native artifact comes from the cache exactly as it was made.
#include "lower/native/artifact_cache.h"
#include "card/watch.h"
#include "lower/native_run.h"
#include <gmock/gmock.h>

namespace opsight::lower {
namespace {

class ArtifactCache : public testing::Test {
protected:
  void SetUp() override { ::setenv("OPSIGHT_CACHE", (scratch() / "cache").c_str(), 1); }
  void TearDown() override { ::unsetenv("OPSIGHT_CACHE"); }

  static cuda::Module module(const std::string &text) {
    ::setenv("OPSIGHT_ROOT", OPSIGHT_SOURCE_DIR, 1);
    cuda::CompileRequest request;
    request.file = writeSource(text);
    auto compiled = cuda::compile(request);
    EXPECT_TRUE(compiled) << describe(compiled.error());
    return std::move(*compiled);
  }
};

constexpr const char *speaking = R"(__constant__ float factor = 2.5f;
__global__ void k(float *x, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x] * factor;
  __syncthreads();
  if (threadIdx.x < n) x[threadIdx.x] = tile[63 - threadIdx.x];
  if (n < 0) printf("\xff %d\n", n);
})";

TEST_F(ArtifactCache, GivesBackTheWholeArtifact) {
  cuda::Module compiled = module(speaking);
  for (Watched watched : {Watched::No, Watched::Checked, Watched::Published}) {
    Target target;
    target.block = {64, 1, 1};
    target.watched = watched;
    auto made = toNative(compiled, target);
    ASSERT_TRUE(made) << describe(made.error());
    auto kept = native::keptArtifact(native::artifactKey(compiled, target));
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->code, made->code);
    EXPECT_EQ(kept->readable, made->readable);
    EXPECT_EQ(card::manifestJson(*kept), card::manifestJson(*made));
    EXPECT_EQ(kept->manifest.formats, made->manifest.formats);
    EXPECT_EQ(kept->manifest.requiredBlock, made->manifest.requiredBlock);
    ASSERT_EQ(kept->manifest.parameters.size(), made->manifest.parameters.size());
    for (size_t i = 0; i < kept->manifest.parameters.size(); ++i)
      EXPECT_EQ(kept->manifest.parameters[i].initial, made->manifest.parameters[i].initial);
    ASSERT_EQ(bool(kept->watch), watched != Watched::No);
    if (kept->watch) {
      ASSERT_EQ(kept->watch->sites.size(), made->watch->sites.size());
      for (size_t i = 0; i < kept->watch->sites.size(); ++i)
        EXPECT_EQ(kept->watch->sites[i].where.line, made->watch->sites[i].where.line);
      EXPECT_EQ(kept->watch->objects.size(), made->watch->objects.size());
      EXPECT_EQ(kept->watch->blocks.size(), made->watch->blocks.size());
    }
  }
}

TEST_F(ArtifactCache, TellsApartAllThatCodeDependsOn) {
  cuda::Module one = module(speaking), other = module("__global__ void k(float *x) { *x = 1; }");
  Target target;
  target.block = {64, 1, 1};
  std::vector<std::string> keys{native::artifactKey(one, target), native::artifactKey(other, target)};
  auto with = [&](auto change) {
    Target changed = target;
    change(changed);
    keys.push_back(native::artifactKey(one, changed));
  };
  with([](Target &t) { t.block = {32, 2, 1}; });
  with([](Target &t) { t.lanes = 8; });
  with([](Target &t) { t.watched = Watched::Checked; });
  with([](Target &t) { t.watched = Watched::Published; });
  with([](Target &t) { t.processor = "x86-64-v3"; });
  for (const std::string &key : keys) {
    EXPECT_FALSE(key.empty());
    EXPECT_EQ(std::ranges::count(keys, key), 1);
  }
}

TEST_F(ArtifactCache, IsNotAskedByWhoLooksAtThePasses) {
  cuda::Module compiled = module(speaking);
  ::setenv("OPSIGHT_TIMES", "1", 1);
  EXPECT_TRUE(native::artifactKey(compiled, {}).empty());
  ::unsetenv("OPSIGHT_TIMES");
}

} // namespace
} // namespace opsight::lower
