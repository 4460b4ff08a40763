// What sight saw and where a verdict went wrong, as hints of our own.
#include "port/own_hints.h"
#include <gtest/gtest.h>

using namespace opsight;
using namespace opsight::port;

namespace {

sight::Findings of(std::vector<sight::Finding> findings) {
  sight::Findings all;
  all.findings = std::move(findings);
  return all;
}

judge::Verdict wrongIn(const char *phase) {
  judge::Verdict verdict;
  judge::CaseResult result;
  result.c.name = "large";
  result.pass = false;
  result.where.emplace();
  result.where->phase = phase;
  verdict.accuracy.cases.push_back(result);
  return verdict;
}

TEST(OwnHints, ReadsThatSkipMemoryAskForRowsAsTheyLie) {
  const sight::Findings seen[] = {of({{.kind = "uncoalesced", .where = {"a/naive.cu", 33, 1}},
                                      {.kind = "uncoalesced", .where = {"a/naive.cu", 37, 1}}})};
  std::vector<Hint> hints = hintsSeen(seen, nullptr);
  ASSERT_EQ(hints.size(), 1u);
  EXPECT_EQ(hints[0].key + "=" + hints[0].value, "kv=row-major");
  EXPECT_EQ(hints[0].said, "seen: uncoalesced at naive.cu:33");
}

TEST(OwnHints, AnOverflowingSoftmaxAsksForTheOnlineOne) {
  for (const char *phase : {"maximum", "exponentials"}) {
    const judge::Verdict verdict = wrongIn(phase);
    std::vector<Hint> hints = hintsSeen({}, &verdict);
    ASSERT_EQ(hints.size(), 1u);
    EXPECT_EQ(hints[0].key + "=" + hints[0].value, "softmax=online");
  }
}

TEST(OwnHints, FaultsAndOtherFindingsAreNone) {
  const sight::Findings seen[] = {of({{.kind = "race", .isFault = true}, {.kind = "low_occupancy"}})};
  const judge::Verdict verdict = wrongIn("indexing");
  EXPECT_TRUE(hintsSeen(seen, &verdict).empty());
}

} // namespace
