// The embedded card end to end: a worker, buffers, launches, and every way in which a kernel can go wrong.
#include "card/native_code.h"
#include <csignal>
#include <cstring>
#include <gmock/gmock.h>
#include <sys/wait.h>

namespace opsight::card {
namespace {
using testing::HasSubstr;
using End = Launched::End;

class CpuSession : public testing::Test {
protected:
  void SetUp() override {
    Limits limits;
    limits.runTimeout = std::chrono::milliseconds(1500);
    auto opened = Session::open("cpu", limits);
    ASSERT_TRUE(opened) << describe(opened.error());
    session = std::move(*opened);
  }

  Launched run(const Artifact &artifact, Buffer &buffer, Dim3 grid = {1, 1, 1}) {
    auto program = session->load(artifact);
    EXPECT_TRUE(program) << describe(program.error());
    if (!program)
      return {.end = End::Refused};
    const Argument arguments[] = {&buffer};
    auto launched = session->launch(*program, {.grid = grid}, arguments);
    EXPECT_TRUE(launched) << describe(launched.error());
    return launched ? *launched : Launched{.end = End::Refused};
  }

  /// Runs a kernel over one buffer of 64 floats and then proves that the session still works.
  Launched runAndGoOn(const std::string &body, const std::string &before = {}) {
    auto buffer = session->createBuffer(64 * sizeof(float));
    Launched bad = run(nativeArtifact(body, {{.name = "out"}}, before), **buffer);
    Launched good = run(nativeArtifact("p[block] = 7;"), **buffer);
    EXPECT_EQ(good.end, End::Done) << good.detail;
    EXPECT_EQ(floats(**buffer)[0], 7.0f);
    return bad;
  }

  std::unique_ptr<Session> session;
};

TEST_F(CpuSession, RunsEveryBlockOfAThreeDimensionalGridOnce) {
  auto buffer = *session->createBuffer(5 * 7 * 3000 * sizeof(float));
  std::ranges::fill(floats(*buffer), 0.0f);
  Launched launched = run(nativeArtifact("p[block] += 1 + launch->grid[0];"), *buffer, {3000, 7, 5});
  EXPECT_EQ(launched.end, End::Done) << launched.detail;
  EXPECT_GT(launched.seconds, 0.0);
  EXPECT_THAT(floats(*buffer), testing::Each(3001.0f));
  EXPECT_FALSE(buffer->firstScribble());
}

TEST_F(CpuSession, PassesScalarsAndSharedMemory) {
  auto buffer = *session->createBuffer(sizeof(float));
  auto program = session->load(nativeArtifact("float *s = (float *)shared; s[255] = *(const float *)launch->arguments[1];\n"
                                              "p[0] = s[255] + *(const long *)launch->arguments[2];",
                                              {{.name = "out"},
                                               {.name = "a", .kind = Parameter::Kind::Scalar, .bytes = 4},
                                               {.name = "n", .kind = Parameter::Kind::Scalar, .bytes = 8},
                                               {.kind = Parameter::Kind::DynamicShared}}));
  ASSERT_TRUE(program);
  const Argument arguments[] = {buffer.get(), scalar(1.5f), scalar(int64_t(40))};
  auto launched = session->launch(*program, {.dynamicSharedBytes = 1024}, arguments);
  ASSERT_TRUE(launched);
  EXPECT_EQ(launched->end, End::Done) << launched->detail;
  EXPECT_EQ(floats(*buffer)[0], 41.5f);
}

TEST_F(CpuSession, NamesTheBufferThatIsWrittenPastItsEnd) {
  Launched launched = runAndGoOn("p[64 + 16] = 1;");
  EXPECT_EQ(launched.end, End::Crash);
  EXPECT_TRUE(launched.outOfBounds);
  EXPECT_EQ(launched.detail, "write 64 bytes past the end of 'out' (256 bytes)");
}

TEST_F(CpuSession, NamesTheBufferThatIsReadPastItsEnd) {
  Launched launched = runAndGoOn("p[0] = p[64];");
  EXPECT_EQ(launched.end, End::Crash);
  EXPECT_TRUE(launched.outOfBounds);
  EXPECT_EQ(launched.detail, "read 0 bytes past the end of 'out' (256 bytes)");
}

TEST_F(CpuSession, FindsScribblesInTheSlackAroundABuffer) {
  auto buffer = *session->createBuffer(10, 64);
  EXPECT_FALSE(buffer->firstScribble());
  Launched launched = run(nativeArtifact("((volatile char *)p)[12] = 3;"), *buffer);
  EXPECT_EQ(launched.end, End::Done);
  EXPECT_EQ(buffer->firstScribble(), 12);
  buffer->arm();
  run(nativeArtifact("((volatile char *)p)[-5] = 3;"), *buffer);
  EXPECT_EQ(buffer->firstScribble(), -5);
}

TEST_F(CpuSession, FindsASumThatIsWrittenWhereItsPartsWereReadOutside) {
  auto buffer = *session->createBuffer(8, 64);
  Artifact artifact = nativeArtifact("p[2] = 2.5f * p[2] + p[2];"); // a NaN would come out of it as it went in
  bool found = false;
  for (int use = 0; use < 4; ++use) {
    buffer->arm();
    run(artifact, *buffer);
    found |= buffer->firstScribble() == 8;
  }
  EXPECT_TRUE(found);
}

TEST_F(CpuSession, EndsAKernelThatHangsInTime) {
  auto start = std::chrono::steady_clock::now();
  Launched launched = runAndGoOn("while (true) p[0] += 1;");
  EXPECT_EQ(launched.end, End::Hang);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
}

TEST_F(CpuSession, CallsAbortACrash) {
  Launched launched = runAndGoOn("abort();");
  EXPECT_EQ(launched.end, End::Crash);
  EXPECT_THAT(launched.detail, HasSubstr("SIGABRT"));
  EXPECT_FALSE(launched.outOfBounds);
}

TEST_F(CpuSession, CallsADivisionByZeroACrash) {
  Launched launched = runAndGoOn("volatile int zero = 0, one = 1; p[0] = one / zero;");
  EXPECT_EQ(launched.end, End::Crash);
  EXPECT_THAT(launched.detail, HasSubstr("SIGFPE"));
}

TEST_F(CpuSession, CallsAnEndlessRecursionAStackOverflow) {
  Launched launched = runAndGoOn("p[0] = deep(1);", "volatile int more = 1;\n"
                                                    "float deep(int n) { volatile char room[512]; room[0] = n; "
                                                    "return more ? deep(n + 1) + room[0] : 0; }");
  EXPECT_EQ(launched.end, End::Crash);
  EXPECT_THAT(launched.detail, HasSubstr("stack overflowed"));
}

TEST_F(CpuSession, EndsAKernelThatMakesASystemCall) {
  Launched launched = runAndGoOn("p[0] = socket(AF_INET, SOCK_STREAM, 0);");
  EXPECT_EQ(launched.end, End::Sandbox);
  EXPECT_THAT(launched.detail, HasSubstr("socket"));
}

TEST_F(CpuSession, EndsAKernelThatForks) {
  EXPECT_EQ(runAndGoOn("p[0] = fork();").end, End::Sandbox);
}

TEST_F(CpuSession, EndsAKernelThatWritesIntoTheProtocol) {
  Launched launched = runAndGoOn("p[0] = write(3, \"hello\", 5);");
  EXPECT_EQ(launched.end, End::Sandbox);
  EXPECT_THAT(launched.detail, HasSubstr("write"));
}

TEST_F(CpuSession, EndsAKernelThatAllocatesWithoutEnd) {
  Launched launched = runAndGoOn("while (true) { volatile char *m = (char *)malloc(1 << 20); m[0] = 1; }");
  EXPECT_EQ(launched.end, End::Sandbox) << launched.detail;
}

TEST_F(CpuSession, SurvivesAKernelThatScribblesOverItsCaller) {
  // Everything above the entry's frame, over and over: return addresses, the pool's state, whatever lies there.
  Launched launched = runAndGoOn("memset(__builtin_frame_address(0), 0x5a, 3000);");
  EXPECT_EQ(launched.end, End::Crash);
}

TEST_F(CpuSession, EndsAKernelThatExits) {
  Launched launched = runAndGoOn("_exit(0);");
  EXPECT_EQ(launched.end, End::Crash);
  EXPECT_THAT(launched.detail, HasSubstr("ended itself"));
}

TEST_F(CpuSession, RefusesCodeWhoseConstructorsCallTheSystem) {
  auto program = session->load(nativeArtifact("p[0] = 1;", {{.name = "out"}},
                                              "__attribute__((constructor)) static void early() { socket(AF_INET, SOCK_STREAM, 0); }"));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(program.error().what, HasSubstr("socket"));
  auto buffer = *session->createBuffer(4);
  EXPECT_EQ(run(nativeArtifact("p[0] = 1;"), *buffer).end, End::Done);
}

TEST_F(CpuSession, RefusesCodeThatAnswersInTheWorkersPlace) {
  auto program = session->load(nativeArtifact(
      "p[0] = 1;", {{.name = "out"}},
      "__attribute__((constructor)) static void forge() { char bytes[64] = {1, 2, 3}; iovec part = {bytes, 64};\n"
      "msghdr message = {}; message.msg_iov = &part; message.msg_iovlen = 1; sendmsg(3, &message, 0); }"));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::Unsupported);
  auto buffer = *session->createBuffer(4);
  EXPECT_EQ(run(nativeArtifact("p[0] = 1;"), *buffer).end, End::Done);
}

TEST_F(CpuSession, RefusesLaunchesOverTheLimitsAndLeavesTheOutputAlone) {
  auto buffer = *session->createBuffer(64);
  auto program = *session->load(nativeArtifact("p[0] = 1;"));
  const Argument arguments[] = {buffer.get()};
  auto refused = [&](LaunchConfig config) {
    Launched launched = *session->launch(program, config, arguments);
    EXPECT_EQ(launched.end, End::Refused);
    return launched.detail;
  };
  EXPECT_THAT(refused({.grid = {1, 65536, 1}}), HasSubstr("grid.y = 65536 is over the card's limit of 65535"));
  EXPECT_THAT(refused({.grid = {1, 1, 65536}}), HasSubstr("grid.z"));
  EXPECT_THAT(refused({.grid = {1u << 31, 1, 1}}), HasSubstr("grid.x"));
  EXPECT_THAT(refused({.grid = {0, 1, 1}}), HasSubstr("zero"));
  EXPECT_THAT(refused({.block = {1025, 1, 1}}), HasSubstr("block.x"));
  EXPECT_THAT(refused({.block = {512, 4, 1}}), HasSubstr("threads of a block = 2048"));
  EXPECT_THAT(refused({.dynamicSharedBytes = 1ull << 40}), HasSubstr("shared memory"));
  EXPECT_THAT(buffer->bytes(), testing::Each(std::byte{0xFF}));
}

TEST_F(CpuSession, KeepsBuffersAndProgramsAcrossACrash) {
  auto kept = *session->createBuffer(64);
  auto program = *session->load(nativeArtifact("p[1] = p[0] + 1;"));
  floats(*kept)[0] = 41;
  auto other = *session->createBuffer(64);
  EXPECT_EQ(run(nativeArtifact("*(volatile int *)8 = 1;"), *other).end, End::Crash);
  const Argument arguments[] = {kept.get()};
  EXPECT_EQ(session->launch(program, {}, arguments)->end, End::Done);
  EXPECT_EQ(floats(*kept)[1], 42.0f);
}

TEST_F(CpuSession, GivesDeviceVariablesTheirFirstContentAndKeepsThem) {
  float initial[] = {3, 4};
  std::string content(reinterpret_cast<char *>(initial), sizeof initial);
  auto program = *session->load(
      nativeArtifact("float *v = *(float **)launch->arguments[1]; p[0] = v[0] + v[1]; v[0] += 1;",
                     {{.name = "out"},
                      {.name = "table", .kind = Parameter::Kind::Symbol, .bytes = 8, .alignment = 4, .initial = content}}));
  auto buffer = *session->createBuffer(4);
  const Argument arguments[] = {buffer.get()};
  session->launch(program, {}, arguments).value();
  EXPECT_EQ(floats(*buffer)[0], 7.0f);
  session->launch(program, {}, arguments).value();
  EXPECT_EQ(floats(*buffer)[0], 8.0f);
}

TEST_F(CpuSession, ShowsWhatTheDevicePrintsAndWhichAssertFailed) {
  Artifact artifact = nativeArtifact(
      "uint32_t *m = *(uint32_t **)launch->arguments[1];\n"
      "uint32_t at = __atomic_fetch_add(m, 6, __ATOMIC_RELAXED) + 4; double d = 2.5;\n"
      "m[at] = 0; m[at + 1] = 4; m[at + 2] = 7; m[at + 3] = 0; memcpy(m + at + 4, &d, 8);\n"
      "if (p[0] > 0) { at = __atomic_fetch_add(m, 2, __ATOMIC_RELAXED) + 4; m[at] = 1; m[at + 1] = 0; m[2] = 1; }",
      {{.name = "out"}, {.kind = Parameter::Kind::Message}});
  artifact.manifest.formats = {"thread %3d has %.2f%%\n", "k.cu:3: Assertion `n < 4' failed\n"};
  auto buffer = *session->createBuffer(4);
  auto program = *session->load(artifact);
  const Argument arguments[] = {buffer.get()};
  floats(*buffer)[0] = 0;
  auto launched = *session->launch(program, {}, arguments);
  EXPECT_EQ(launched.end, End::Done);
  EXPECT_EQ(launched.printed, "thread   7 has 2.50%\n");
  floats(*buffer)[0] = 1;
  launched = *session->launch(program, {}, arguments);
  EXPECT_EQ(launched.end, End::Assert);
  EXPECT_THAT(launched.detail, HasSubstr("n < 4"));
}

TEST_F(CpuSession, AlignsBuffersAndPoisonsThem) {
  for (uint32_t alignment : {1u, 4u, 64u, 4096u}) {
    auto buffer = *session->createBuffer(100, alignment);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->bytes().data()) % alignment, 0u);
    EXPECT_THAT(buffer->bytes(), testing::Each(std::byte{0xFF}));
  }
}

TEST_F(CpuSession, RefusesABufferOfATerabyteBeforeTakingMemory) {
  auto buffer = session->createBuffer(1ull << 40);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().kind, ErrorKind::NoVerdict);
}

TEST_F(CpuSession, MeasuresAPlausiblePeak) {
  auto peak = session->measurePeak();
  ASSERT_TRUE(peak);
  EXPECT_GT(peak->gflopsFp32, 1.0);
  EXPECT_LT(peak->gflopsFp32, 1e6);
  EXPECT_GT(peak->readGbps, 0.5);
}

TEST_F(CpuSession, MeasuresThePeakOfTheRegistersThatTheProfileAllows) {
  if (!__builtin_cpu_supports("avx512f"))
    GTEST_SKIP() << "this processor has no wider registers than AVX2's";
  auto narrow = Session::open("cpu:avx2", {});
  ASSERT_TRUE(narrow);
  double ratio = session->measurePeak()->gflopsFp32 / (*narrow)->measurePeak()->gflopsFp32;
  // 2 with two units for each width, 1 where a wide operation takes a narrow unit twice; others may disturb either.
  EXPECT_GT(ratio, 0.5);
  EXPECT_LT(ratio, 4);
}

TEST_F(CpuSession, TakesADamagedLibraryForUnsupported) {
  Artifact artifact = nativeArtifact("p[0] = 1;");
  artifact.code.resize(artifact.code.size() / 3);
  EXPECT_EQ(session->load(artifact).error().kind, ErrorKind::Unsupported);
  artifact.code = "not code at all";
  EXPECT_EQ(session->load(artifact).error().kind, ErrorKind::Unsupported);
}

TEST(Sessions, TellAnUnknownCardFromAMissingOne) {
  EXPECT_EQ(Session::open("cpx", {}).error().kind, ErrorKind::User);
  EXPECT_THAT(Session::open("cpx", {}).error().what, HasSubstr("did you mean 'cpu'"));
}

} // namespace
} // namespace opsight::card
