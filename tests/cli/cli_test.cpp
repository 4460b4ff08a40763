// The command line as users meet it: codes, what goes to which stream, and how fast it starts.
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

namespace {

struct Ran {
  int code = -1;
  std::string out, err;
};

std::string drain(FILE *stream) {
  std::string text;
  std::rewind(stream);
  std::array<char, 4096> chunk;
  while (size_t n = std::fread(chunk.data(), 1, chunk.size(), stream))
    text.append(chunk.data(), n);
  return text;
}

/// Runs the tool in a folder of its own.
Ran run(const std::string &arguments) {
  fs::path folder = fs::temp_directory_path() / ("opsight-cli-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  FILE *err = std::tmpfile(), *out = std::tmpfile();
  std::string command = "cd '" + folder.string() + "' && XDG_STATE_HOME='" + folder.string() +
                        "' OPSIGHT_ROOT='" OPSIGHT_SOURCE_DIR "' '" OPSIGHT_BINARY_DIR
                        "/bin/opsight' " + arguments + " </dev/null >&" + std::to_string(::fileno(out)) + " 2>&" +
                        std::to_string(::fileno(err));
  int status = std::system(("bash -c \"" + command + "\"").c_str());
  Ran ran{WEXITSTATUS(status), drain(out), drain(err)};
  std::fclose(out);
  std::fclose(err);
  fs::remove_all(folder);
  return ran;
}

TEST(CommandLine, versionIsFast) {
  run("--version"); // the first call reads the libraries from disk
  auto begin = std::chrono::steady_clock::now();
  Ran ran = run("--version");
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, StartsWith("opsight "));
  EXPECT_LT(seconds, 1.0); // 0.1 s on an idle machine; tests run beside others
}

TEST(CommandLine, helpStartsWithAnExample) {
  for (const char *verb : {"", "port ", "verify ", "see ", "cards ", "ops "}) {
    Ran ran = run(std::string(verb) + "--help");
    EXPECT_EQ(ran.code, 0) << verb;
    EXPECT_THAT(ran.out, StartsWith("Example:\n  opsight ")) << verb;
  }
}

TEST(CommandLine, unknownVerbNamesTheNearest) {
  Ran ran = run("verfy x.toml");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("did you mean 'verify'"));
  EXPECT_EQ(ran.out, "");
}

TEST(CommandLine, unknownOptionIsAnErrorOfTheUser) {
  Ran ran = run("verify x.toml --accurate-only");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--accurate-only"));
}

TEST(CommandLine, noArgumentsShowTheHelp) {
  Ran ran = run("");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("Example:"));
}

TEST(CommandLine, operatorsAsJsonAreOnlyJson) {
  Ran ran = run("ops --json");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(nlohmann::json::parse(ran.out)["operators"][0]["name"], "scaled_dot_product_attention");
  EXPECT_EQ(run("ops scaled_dot_product_atention").code, 2);
}

TEST(CommandLine, operatorsSayWhereTheyAreProvedFromTheRecordAlone) {
  Ran ran = run("ops");
  EXPECT_THAT(ran.out, HasSubstr("no verdict is recorded"));
  EXPECT_TRUE(nlohmann::json::parse(run("ops --json").out)["operators"][0]["proved"].empty());
}

TEST(CommandLine, aSlipOfTwoLettersNamesTheVerb) {
  EXPECT_THAT(run("prot x.toml").err, HasSubstr("did you mean 'port'"));
}

TEST(CommandLine, figuresThatAreNotThereAreTheUsersError) {
  Ran ran = run("verify " OPSIGHT_SOURCE_DIR "/examples/sdpa/port_plain.toml --reference nowhere.toml");
  EXPECT_EQ(ran.code, 2) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("nowhere.toml"));
}

TEST(CommandLine, aCardAsJsonHasItsProfile) {
  Ran ran = run("cards cpu --json");
  EXPECT_EQ(ran.code, 0) << ran.err;
  auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["cards"][0]["name"], "cpu");
  EXPECT_FALSE(json["cards"][0]["figures"].empty());
  EXPECT_EQ(run("cards cpx").code, 2);
}

TEST(CommandLine, aSourceNeedsItsLaunchAndOperator) {
  std::string file = OPSIGHT_SOURCE_DIR "/examples/sdpa/naive.cu";
  Ran ran = run("verify " + file);
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--operator"));
  ran = run("verify " + file + " --operator scaled_dot_product_attention");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--grid"));
}

TEST(CommandLine, optionsOfASourceAreNotDroppedBesideAPortFile) {
  Ran ran = run("verify " OPSIGHT_SOURCE_DIR "/examples/sdpa/port_plain.toml --grid 1");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--grid"));
}

TEST(CommandLine, kernelsWithBlocksOfManyThreadsAreJudgedOnTheEmbeddedCard) {
  Ran ran = run("verify " OPSIGHT_SOURCE_DIR "/examples/sdpa/port_plain.toml --card cpu --accuracy-only");
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_NE(ran.out.find("nan"), std::string::npos) << ran.out;
}

} // namespace
