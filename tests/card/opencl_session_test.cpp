// The OpenCL cards end to end, on every driver that is here: hand-written SPIR-V, guard pages, limits, hangs.
#include "base/file.h"
#include "card/native_code.h"
#include <cstring>
#include <gmock/gmock.h>

namespace opsight::card {
namespace {
using testing::HasSubstr;
using testing::Not;
using End = Launched::End;

Artifact assemble(const std::string &name, std::vector<Parameter> parameters) {
  auto source = std::filesystem::path(OPSIGHT_SOURCE_DIR "/tests/card/spirv") / (name + ".spvasm");
  auto binary = std::filesystem::temp_directory_path() / ("opsight-test-" + std::to_string(::getpid()) + ".spv");
  std::string command = "spirv-as --target-env opencl2.0 " + source.string() + " -o " + binary.string() +
                        " && spirv-val --target-env opencl2.0 " + binary.string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  Artifact artifact;
  artifact.manifest.kernel = name;
  artifact.manifest.entry = name == "local" ? "reverse" : name;
  artifact.manifest.parameters = std::move(parameters);
  artifact.code = readFile(binary).value();
  std::filesystem::remove(binary);
  return artifact;
}

class OpenClSession : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    Limits limits;
    limits.runTimeout = std::chrono::milliseconds(1500);
    auto opened = Session::open(GetParam(), limits);
    if (!opened && opened.error().kind == ErrorKind::NoVerdict)
      GTEST_SKIP() << "no device for card " << GetParam() << ": " << opened.error().what << "; " << opened.error().next;
    ASSERT_TRUE(opened) << describe(opened.error());
    session = std::move(*opened);
  }

  std::unique_ptr<Buffer> filled(size_t count, float value) {
    auto buffer = session->createBuffer(count * sizeof(float));
    EXPECT_TRUE(buffer) << describe(buffer.error());
    std::ranges::fill(floats(**buffer), value);
    return std::move(*buffer);
  }
  ProgramId scaleProgram() {
    auto program = session->load(assemble(
        "scale", {{.name = "out"}, {.name = "in"}, {.name = "factor", .kind = Parameter::Kind::Scalar, .bytes = 4}}));
    EXPECT_TRUE(program) << describe(program.error());
    return program.value_or(0);
  }
  Launched scale(ProgramId program, Buffer &out, Buffer &in, uint32_t blocks, uint32_t threads) {
    const Argument arguments[] = {&out, &in, scalar(2.0f)};
    auto launched = session->launch(program, {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}}, arguments);
    EXPECT_TRUE(launched) << describe(launched.error());
    return launched.value_or(Launched{});
  }

  std::unique_ptr<Session> session;
};

TEST_P(OpenClSession, RunsAKernelAndSeesItsOutput) {
  auto out = filled(1000, 0), in = filled(1000, 3);
  ProgramId program = scaleProgram();
  for (float value : {3.0f, 5.0f}) {
    std::ranges::fill(floats(*in), value);
    Launched launched = scale(program, *out, *in, 10, 100);
    EXPECT_EQ(launched.end, End::Done) << launched.detail;
    EXPECT_THAT(floats(*out), testing::Each(2 * value));
  }
  EXPECT_FALSE(out->firstScribble());
}

TEST_P(OpenClSession, HandlesBuffersOfEverySizeAndAddress) {
  ProgramId program = scaleProgram();
  for (size_t count : {1, 3, 17, 1023, 1025}) {
    auto out = *session->createBuffer(count * sizeof(float), 4), in = *session->createBuffer(count * sizeof(float), 4);
    std::ranges::fill(floats(*in), 1.5f);
    Launched launched = scale(program, *out, *in, static_cast<uint32_t>(count), 1);
    EXPECT_EQ(launched.end, End::Done) << launched.detail;
    EXPECT_THAT(floats(*out), testing::Each(3.0f)) << count;
  }
}

TEST_P(OpenClSession, FindsAWritePastTheEnd) {
  auto out = filled(1024, 0), in = filled(2048, 1);
  ProgramId program = scaleProgram();
  Launched launched = scale(program, *out, *in, 32, 64);
  EXPECT_EQ(launched.end, End::Crash) << launched.detail;
  EXPECT_TRUE(launched.outOfBounds);
  EXPECT_THAT(launched.detail, HasSubstr("'out' (4096 bytes)"));
  launched = scale(program, *out, *in, 16, 64);
  EXPECT_EQ(launched.end, End::Done) << launched.detail;
}

TEST_P(OpenClSession, FindsAReadPastTheEnd) {
  auto out = filled(2048, 0), in = filled(1024, 1);
  Launched launched = scale(scaleProgram(), *out, *in, 32, 64);
  EXPECT_EQ(launched.end, End::Crash) << launched.detail;
  EXPECT_TRUE(launched.outOfBounds);
  EXPECT_THAT(launched.detail, HasSubstr("read"));
  EXPECT_THAT(launched.detail, HasSubstr("'in'"));
}

TEST_P(OpenClSession, EndsAKernelThatHangsInTime) {
  auto out = *session->createBuffer(4);
  auto program = session->load(assemble("spin", {{.name = "out"}}));
  ASSERT_TRUE(program) << describe(program.error());
  const Argument arguments[] = {out.get()};
  auto start = std::chrono::steady_clock::now();
  auto launched = session->launch(*program, {}, arguments);
  ASSERT_TRUE(launched);
  EXPECT_EQ(launched->end, End::Hang);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15)); // with the driver's compilation
  floats(*out)[0] = 0;
  launched = session->launch(*program, {}, arguments);
  EXPECT_EQ(launched->end, End::Done) << launched->detail;
  EXPECT_EQ(floats(*out)[0], 7.0f);
}

TEST_P(OpenClSession, GivesEveryBlockItsDynamicSharedMemory) {
  auto out = filled(128, 0), in = filled(128, 0);
  for (int i = 0; i < 128; ++i)
    floats(*in)[i] = static_cast<float>(i);
  auto program = session->load(
      assemble("local", {{.name = "out"}, {.name = "in"}, {.name = {}, .kind = Parameter::Kind::DynamicShared}}));
  ASSERT_TRUE(program) << describe(program.error());
  const Argument arguments[] = {out.get(), in.get()};
  auto launched =
      session->launch(*program, {.grid = {2, 1, 1}, .block = {64, 1, 1}, .dynamicSharedBytes = 256}, arguments);
  ASSERT_TRUE(launched);
  EXPECT_EQ(launched->end, End::Done) << launched->detail;
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(floats(*out)[i], static_cast<float>(i / 64 * 64 + 63 - i % 64));
}

TEST_P(OpenClSession, RefusesBlocksOverTheLimit) {
  auto out = filled(4096, 0), in = filled(4096, 1);
  ProgramId program = scaleProgram();
  EXPECT_THAT(scale(program, *out, *in, 1, 2048).detail, HasSubstr("block.x = 2048 is over the card's limit"));
  const Argument arguments[] = {out.get(), in.get(), scalar(2.0f)};
  EXPECT_EQ(session->launch(program, {.block = {2, 2, 128}}, arguments)->end, End::Refused);
  EXPECT_EQ(session->launch(program, {.grid = {1, 65536, 1}}, arguments)->end, End::Refused);
  EXPECT_THAT(floats(*out), testing::Each(0.0f));
}

TEST_P(OpenClSession, ShowsTheDriversWordsForCodeItCannotBuild) {
  Artifact artifact = assemble("spin", {{.name = "out"}});
  artifact.code = artifact.code.substr(0, 60);
  auto program = session->load(artifact);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::Unsupported);
  EXPECT_FALSE(program.error().what.empty());
  EXPECT_THAT(program.error().what, Not(HasSubstr("still building"))) << "a driver that gives up must not hang";
  auto out = filled(8, 0), in = filled(8, 1);
  EXPECT_EQ(scale(scaleProgram(), *out, *in, 1, 8).end, End::Done);
}

TEST_P(OpenClSession, SaysWhatItsDeviceIs) {
  const DeviceInfo &info = session->info();
  EXPECT_EQ(info.card, GetParam());
  EXPECT_FALSE(info.device.empty());
  EXPECT_FALSE(info.driver.empty());
  EXPECT_GT(info.sharedBytes, 16384u);
  EXPECT_EQ(info.unconfined, "");
  EXPECT_GT(session->measurePeak()->gflopsFp32, 1.0);
}

TEST_P(OpenClSession, GivesNoVerdictWhereTheDriverIsStillBuildingAtItsTimeLimit) {
  Limits limits;
  limits.buildTimeout = std::chrono::milliseconds(1);
  session = std::move(*Session::open(GetParam(), limits));
  auto program = session->load(assemble(
      "scale", {{.name = "out"}, {.name = "in"}, {.name = "factor", .kind = Parameter::Kind::Scalar, .bytes = 4}}));
  Error error;
  if (program) { // a driver that compiles at the launch
    auto out = filled(8, 0), in = filled(8, 1);
    const Argument arguments[] = {out.get(), in.get(), scalar(2.0f)};
    auto launched = session->launch(*program, {.grid = {1, 1, 1}, .block = {8, 1, 1}}, arguments);
    ASSERT_FALSE(launched) << launched->detail;
    error = launched.error();
  } else {
    error = program.error();
  }
  EXPECT_EQ(error.kind, ErrorKind::NoVerdict);
  EXPECT_THAT(error.what, HasSubstr(session->info().driver));
}

INSTANTIATE_TEST_SUITE_P(Drivers, OpenClSession, testing::Values("opencl:pocl", "opencl:intel"), [](const auto &info) {
  return std::string(info.param).substr(7);
});

} // namespace
} // namespace opsight::card
