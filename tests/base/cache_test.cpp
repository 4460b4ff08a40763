#include "base/cache.h"
#include "base/file.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

namespace opsight {
namespace {

class InOwnFolder : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "opsight-cache-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    ::setenv("OPSIGHT_CACHE", folder.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("OPSIGHT_CACHE");
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::filesystem::path onlyFile() const { return std::filesystem::directory_iterator(folder)->path(); }
  std::filesystem::path folder;
};
using Cache = InOwnFolder;

TEST_F(Cache, GivesBackWhatItWasGivenBitForBit) {
  std::string bytes("a\0b\n\xff", 5);
  toCache("one", bytes);
  EXPECT_EQ(fromCache("one"), bytes);
  EXPECT_EQ(fromCache("another"), std::nullopt);
}

TEST_F(Cache, KeepsTheLastThatWasGivenUnderAKey) {
  toCache("one", "first");
  toCache("one", "second");
  EXPECT_EQ(fromCache("one"), "second");
}

TEST_F(Cache, TakesADamagedFileForNone) {
  toCache("one", "whole");
  auto bytes = *readFile(onlyFile());
  for (std::string damaged : {bytes.substr(0, bytes.size() - 1), bytes + "x", bytes.substr(0, 10), std::string()}) {
    ASSERT_TRUE(writeFile(onlyFile(), damaged));
    EXPECT_EQ(fromCache("one"), std::nullopt) << damaged.size();
  }
}

TEST_F(Cache, KeepsNothingWhenItIsOff) {
  ::setenv("OPSIGHT_CACHE", "off", 1);
  toCache("one", "bytes");
  EXPECT_EQ(fromCache("one"), std::nullopt);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(Cache, AFolderThatCannotBeWrittenIsNoError) {
  ::setenv("OPSIGHT_CACHE", "/proc/nowhere", 1);
  toCache("one", "bytes");
  EXPECT_EQ(fromCache("one"), std::nullopt);
}

TEST_F(Cache, ThisBuildHasAStampOfItsOwn) {
  EXPECT_FALSE(programStamp().empty());
  EXPECT_EQ(programStamp(), programStamp());
}

} // namespace
} // namespace opsight
