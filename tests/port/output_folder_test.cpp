// Results appear at once or not at all.
#include "port/output_folder.h"
#include "base/file.h"
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace opsight;
using namespace opsight::port;
namespace fs = std::filesystem;

namespace {

class Folder : public testing::Test {
protected:
  void SetUp() override {
    base = fs::temp_directory_path() / ("opsight-output-" + std::to_string(::getpid()));
    fs::create_directories(base);
  }
  void TearDown() override { fs::remove_all(base); }
  fs::path base;
};

TEST_F(Folder, nothingIsSeenBeforeCommit) {
  {
    Result<OutputFolder> folder = OutputFolder::open(base / "out");
    ASSERT_TRUE(folder);
    ASSERT_TRUE(folder->write("verdict.json", "{}"));
    ASSERT_TRUE(folder->write("artifact/kernel.so", "x"));
    EXPECT_FALSE(fs::exists(base / "out/verdict.json"));
  }
  EXPECT_TRUE(fs::is_empty(base / "out"));
}

TEST_F(Folder, commitReplacesAnEarlierRun) {
  for (const char *text : {"first", "second"}) {
    Result<OutputFolder> folder = OutputFolder::open(base / "out");
    ASSERT_TRUE(folder);
    ASSERT_TRUE(folder->write("verdict.json", text));
    ASSERT_TRUE(folder->write(std::string("candidates/") + text + "/x", text));
    ASSERT_TRUE(folder->commit());
  }
  EXPECT_EQ(*readFile(base / "out/verdict.json"), "second");
  EXPECT_FALSE(fs::exists(base / "out/candidates/first"));
  for (const auto &entry : fs::directory_iterator(base / "out"))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".partial")) << entry.path();
}

TEST_F(Folder, twoRunsDoNotShareIt) {
  Result<OutputFolder> first = OutputFolder::open(base / "out");
  ASSERT_TRUE(first);
  Result<OutputFolder> second = OutputFolder::open(base / "out");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::User);
  EXPECT_NE(second.error().what.find("another run"), std::string::npos);
  ASSERT_TRUE(first->write("verdict.json", "{}"));
  EXPECT_TRUE(first->commit());
}

TEST_F(Folder, isFreeAgainAfterARun) {
  {
    Result<OutputFolder> folder = OutputFolder::open(base / "out");
    ASSERT_TRUE(folder);
  }
  EXPECT_TRUE(OutputFolder::open(base / "out"));
}

TEST_F(Folder, whatAKilledRunLeftIsClearedAway) {
  fs::create_directories(base / "out/.partial.1/artifact");
  std::ofstream(base / "out/.partial.1/artifact/kernel.so") << "half";
  std::ofstream(base / "out/notes.txt") << "the user's own";
  Result<OutputFolder> folder = OutputFolder::open(base / "out");
  ASSERT_TRUE(folder);
  EXPECT_FALSE(fs::exists(base / "out/.partial.1"));
  EXPECT_TRUE(fs::exists(base / "out/notes.txt"));
}

TEST_F(Folder, fileInTheWayIsToldAtOnce) {
  std::ofstream(base / "file") << "x";
  EXPECT_FALSE(OutputFolder::open(base / "file"));
  Result<OutputFolder> below = OutputFolder::open(base / "file" / "out");
  ASSERT_FALSE(below);
  EXPECT_NE(below.error().what.find("file/out"), std::string::npos);
}

} // namespace
