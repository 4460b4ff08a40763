// Slips of the finger find the name that was meant.
#include "base/text.h"
#include <gtest/gtest.h>

namespace opsight {
namespace {

const std::vector<std::string> verbs = {"port", "verify", "cards", "ops"};

TEST(NearestName, swappedNeighboursAreOneSlip) {
  EXPECT_EQ(nearestName("prot", verbs), "port");
  EXPECT_EQ(nearestName("opr", verbs), "ops");
  EXPECT_EQ(nearestName("vreify", verbs), "verify");
  EXPECT_EQ(nearestName("csrads", verbs), "cards");
}

TEST(NearestName, aLetterTooManyTooFewOrWrong) {
  EXPECT_EQ(nearestName("portt", verbs), "port");
  EXPECT_EQ(nearestName("pot", verbs), "port");
  EXPECT_EQ(nearestName("pork", verbs), "port");
  EXPECT_EQ(nearestName("PORT", verbs), "port");
}

TEST(NearestName, whatIsFarFromAllIsNone) {
  EXPECT_EQ(nearestName("translate", verbs), "");
  EXPECT_EQ(nearestName("tpro", verbs), "");
  EXPECT_EQ(nearestName("", verbs), "");
  EXPECT_EQ(nearestName("x", {}), "");
}

} // namespace
} // namespace opsight
