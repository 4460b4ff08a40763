// Where the calls of a launch that waits for its whole grid meet.
#include "card/cpu/abi.h"
#include "card/cpu/grid_meeting.h"
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace opsight::card::native {
namespace {

/// What each of `calls` threads does with a meeting of them all.
template <class Work> void together(unsigned calls, Work work) {
  GridMeeting meeting(calls);
  std::vector<std::thread> threads;
  for (unsigned call = 0; call < calls; ++call)
    threads.emplace_back([&, call] {
      work(call, [&](uint64_t state) { return GridMeeting::meet(&meeting, state); });
      meeting.leave();
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(GridMeeting, nobody_goes_on_before_all_have_come) {
  for (unsigned calls : {1u, 2u, 3u, 7u}) {
    std::vector<int> rounds(calls, 0);
    std::atomic<int> wrong{0};
    together(calls, [&](unsigned call, auto meet) {
      for (int round = 1; round <= 300; ++round) {
        rounds[call] = round;
        wrong += meet(5) != 5;
        for (int others : rounds)
          wrong += others != round;
        wrong += meet(9) != 9;
      }
    });
    EXPECT_EQ(wrong, 0) << calls << " calls";
  }
}

TEST(GridMeeting, different_states_are_told_to_all_with_the_largest) {
  std::vector<uint64_t> answers(4);
  together(4, [&](unsigned call, auto meet) {
    meet(1);
    answers[call] = meet(call == 2 ? 7 : 3);
    meet(0);
  });
  EXPECT_EQ(answers, std::vector<uint64_t>(4, 7 | meetingParted));
}

TEST(GridMeeting, who_has_left_is_not_waited_for) {
  std::vector<uint64_t> answers(4, 0);
  together(4, [&](unsigned call, auto meet) {
    if (meet(2) == 2 && call != 1)
      answers[call] = meet(4);
  });
  EXPECT_EQ(answers, (std::vector<uint64_t>{meetingParted, 0, meetingParted, meetingParted}));
}

TEST(GridMeeting, who_leaves_behind_the_last_meeting_spoils_it_for_nobody) {
  std::atomic<int> wrong{0};
  for (int time = 0; time < 300; ++time)
    together(3, [&](unsigned, auto meet) { wrong += meet(0) != 0; });
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace opsight::card::native
