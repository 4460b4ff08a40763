// No worker outlives its tool, however the tool ends.
#include "card/native_code.h"
#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <sys/wait.h>

namespace opsight::card {
namespace {
namespace fs = std::filesystem;
using std::chrono::seconds;

/// Process numbers of the workers whose parent is `parent`.
std::vector<pid_t> workersOf(pid_t parent) {
  std::vector<pid_t> found;
  for (const auto &entry : fs::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "stat");
    std::string line;
    if (!std::getline(in, line) || line.find("(opsight-worker)") == line.npos)
      continue;
    std::istringstream rest(line.substr(line.rfind(')') + 1));
    char state;
    pid_t ppid = 0;
    if (rest >> state >> ppid && ppid == parent)
      found.push_back(std::stoi(entry.path().filename()));
  }
  return found;
}

bool eventually(const std::function<bool()> &condition, seconds patience = seconds(10)) {
  for (auto end = std::chrono::steady_clock::now() + patience; std::chrono::steady_clock::now() < end; ::usleep(10'000))
    if (condition())
      return true;
  return condition();
}

bool isGone(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(in, line))
    return true;
  return line.substr(line.rfind(')') + 2, 1) == "Z"; // dead, though whoever adopted it has not asked yet
}

TEST(Lifetime, AKilledToolLeavesNoSpinningWorker) {
  Artifact spin = nativeArtifact("while (true) p[0] += 1;");
  pid_t tool = ::fork();
  if (tool == 0) {
    auto session = Session::open("cpu", {}).value();
    auto buffer = session->createBuffer(64).value();
    auto program = session->load(spin).value();
    const Argument arguments[] = {buffer.get()};
    (void)session->launch(program, {}, arguments);
    ::_exit(0);
  }
  std::vector<pid_t> workers;
  ASSERT_TRUE(eventually([&] { return !(workers = workersOf(tool)).empty(); }));
  ::usleep(200'000); // into the kernel
  ::kill(tool, SIGKILL);
  ::waitpid(tool, nullptr, 0);
  for (pid_t worker : workers)
    EXPECT_TRUE(eventually([&] { return isGone(worker); })) << worker;
}

TEST(Lifetime, AnInterruptedToolLeavesNoDriverAndNoFolder) {
  if (auto probe = Session::open("opencl:pocl", {}); !probe)
    GTEST_SKIP() << "no device for card opencl:pocl: " << probe.error().what;
  fs::path temporary = fs::temp_directory_path() / ("opsight-lifetime-" + std::to_string(::getpid()));
  fs::create_directories(temporary);
  pid_t tool = ::fork();
  if (tool == 0) {
    ::signal(SIGINT, SIG_DFL);
    ::setenv("TMPDIR", temporary.c_str(), 1);
    auto session = Session::open("opencl:pocl", {}).value();
    while (true)
      ::pause();
  }
  std::vector<pid_t> workers;
  ASSERT_TRUE(eventually([&] { return !(workers = workersOf(tool)).empty() && !fs::is_empty(temporary); }));
  ::kill(tool, SIGINT);
  ::waitpid(tool, nullptr, 0);
  for (pid_t worker : workers)
    EXPECT_TRUE(eventually([&] { return isGone(worker); })) << worker;
  EXPECT_TRUE(eventually([&] { return fs::is_empty(temporary); }));
  fs::remove_all(temporary);
}

TEST(Lifetime, AClosedSessionTakesItsWorkerAlong) {
  auto session = Session::open("cpu", {}).value();
  auto workers = workersOf(::getpid());
  ASSERT_EQ(workers.size(), 1u);
  session.reset();
  EXPECT_TRUE(workersOf(::getpid()).empty());
}

TEST(Lifetime, ABufferMayOutliveItsSession) {
  auto session = Session::open("cpu", {}).value();
  auto buffer = session->createBuffer(64).value();
  session.reset();
  floats(*buffer)[3] = 1;
  EXPECT_FALSE(buffer->firstScribble());
}

} // namespace
} // namespace opsight::card
