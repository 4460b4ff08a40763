#include "judge/machine_load.h"
#include "judge/fake.h"
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace opsight::judge {

TEST(ProcessorTimes, CountWhatAHypervisorTookAsBusy) {
  auto times = ProcessorTimes::parse("cpu  100 20 30 800 50 5 5 40 0 0");
  double second = double(::sysconf(_SC_CLK_TCK));
  ASSERT_TRUE(times);
  EXPECT_DOUBLE_EQ(times->busy, 200 / second);
  EXPECT_DOUBLE_EQ(times->all, 1050 / second);
}

TEST(ProcessorTimes, AreNoneOfAnotherText) {
  for (const char *text : {"", "cpu", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8"})
    EXPECT_FALSE(ProcessorTimes::parse(text)) << text;
}

TEST(MachineLoad, SeesAnotherProcess) {
  fake::Session session;
  session.processor = [] { return 0.0; };
  pid_t other = ::fork();
  if (other == 0)
    while (true)
      ;
  MachineLoad load(session);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  auto share = load.othersShare();
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  ASSERT_TRUE(share);
  EXPECT_GT(*share, 0.5 / std::max(1u, std::thread::hardware_concurrency()));
}

TEST(MachineLoad, IsNotToldWhereTheWorkersTimeIsNotKnown) {
  fake::Session session;
  MachineLoad load(session);
  EXPECT_FALSE(load.othersShare());
}

} // namespace opsight::judge
