// After a FAIL: what would address it, and nothing that was asked for already.
#include "port/advice.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opsight::port {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Outcome failedFor(std::vector<std::string> reasons) {
  Outcome outcome;
  outcome.verdict.reasons = std::move(reasons);
  return outcome;
}

TEST(Advice, aHangMayOnlyBeSlow) { EXPECT_THAT(adviceFor(failedFor({"hang"})), ElementsAre(HasSubstr("--timeout"))); }

TEST(Advice, hintsThatWereGivenAreNotRepeated) {
  Outcome outcome = failedFor({"slow"});
  EXPECT_THAT(adviceFor(outcome), ElementsAre(HasSubstr("--hint tile=64x64"), HasSubstr("--hint reduce-stride=4")));
  outcome.request.hints = {{"tile", "32x32", "said"}};
  EXPECT_THAT(adviceFor(outcome), ElementsAre(HasSubstr("--hint reduce-stride=4")));
}

TEST(Advice, aPassNeedsNone) {
  Outcome outcome = failedFor({});
  outcome.verdict.pass = true;
  EXPECT_THAT(adviceFor(outcome), IsEmpty());
}

} // namespace
} // namespace opsight::port
