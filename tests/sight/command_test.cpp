#include "sight/command.h"
#include <gtest/gtest.h>

namespace opsight::sight {
namespace {

TEST(Command, ACommandThatNeverEndsIsEnded) {
  auto begin = std::chrono::steady_clock::now();
  auto ran = runCommand({"/bin/sh", "-c", "echo begun; sleep 60 & sleep 60"}, std::filesystem::temp_directory_path(),
                        std::chrono::milliseconds(300));
  ASSERT_TRUE(ran);
  EXPECT_FALSE(ran->inTime);
  EXPECT_EQ(ran->output, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Command, ACommandThatIsNotThereEndsWithItsStatus) {
  auto ran = runCommand({"/nowhere/at/all"}, std::filesystem::temp_directory_path(), std::chrono::seconds(5));
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->status, 127);
}

} // namespace
} // namespace opsight::sight
