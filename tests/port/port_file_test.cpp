// Port files: what they say ends in the request; what they should not say is an error with its place and the nearest name.
#include "port/port_file.h"
#include "port/source_request.h"
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace opsight;
using namespace opsight::port;
using testing::HasSubstr;

namespace {

const std::string good = R"toml(operator = "scaled_dot_product_attention"
source = "kernel.cu"
kernel = "attention"
card = "cpu"
[launch]
grid = ["ceil_div(L, 64)", "H", "B"]
block = [256]
shared = "4 * D"
[arguments]
n = "L"
alpha = 0.5
[defines]
HEAD_DIM = "D"
WIDE = true
[options]
causal = "top-left"
[limits]
D = [64, 128]
"L % 64" = 0
[accept]
max_error = 2e-6
min_speed = 0.9
reference = "source"
[hints]
tile = "64X64"
reduce-stride = 4
)toml";

class PortFile : public testing::Test {
protected:
  void SetUp() override {
    setenv("OPSIGHT_ROOT", OPSIGHT_SOURCE_DIR, 1);
    folder = std::filesystem::temp_directory_path() / ("opsight-port-file-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "kernel.cu") << "// empty\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  Result<Request> read(const std::string &text) {
    std::ofstream(folder / "port.toml", std::ios::trunc) << text;
    return readPortFile(folder / "port.toml");
  }
  /// The error, with `from` in the good file replaced by `to`.
  Error refused(const std::string &from, const std::string &to, ErrorKind kind = ErrorKind::User) {
    std::string text = good;
    size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    Result<Request> request = read(text.replace(at, from.size(), to));
    EXPECT_FALSE(request) << "accepted: " << to;
    if (request)
      return {};
    EXPECT_EQ(request.error().kind, kind);
    return request.error();
  }
  std::filesystem::path folder;
};

TEST_F(PortFile, allItsPartsEndInTheRequest) {
  Result<Request> request = read(good + "[[case]]\nB = 1\nH = 2\nL = 64\nS = 32\nD = 64\ndistribution = \"peaked\"\n");
  ASSERT_TRUE(request) << describe(request.error());
  EXPECT_EQ(request->kernel, "attention");
  EXPECT_EQ(request->source, folder / "kernel.cu");
  EXPECT_EQ(request->launch.grid.size(), 3u);
  EXPECT_EQ(request->launch.block[0].text, "256");
  EXPECT_EQ(request->launch.shared.text, "4 * D");
  EXPECT_EQ(request->arguments.at("n").text, "L");
  EXPECT_EQ(request->arguments.at("alpha").text, "0.5");
  EXPECT_TRUE(request->defines.at("HEAD_DIM").isExpression);
  EXPECT_EQ(request->defines.at("WIDE").value.text, "1");
  EXPECT_EQ(request->options.at("causal"), "top-left");
  EXPECT_EQ(request->options.at("mask"), "none");
  EXPECT_EQ(request->limits.size(), 2u);
  EXPECT_EQ(request->accept.maxError, 2e-6);
  EXPECT_EQ(request->accept.minSpeed, 0.9);
  EXPECT_EQ(request->accept.reference->text, "source");
  ASSERT_EQ(request->hints.size(), 2u);
  ASSERT_EQ(request->cases.size(), 1u);
  EXPECT_EQ(request->cases[0].symbols.at("Dv"), 64);
  EXPECT_EQ(request->cases[0].options.at("causal"), "top-left");
  EXPECT_EQ(request->cases[0].distribution, "peaked");
}

TEST_F(PortFile, unknownNamesPointAtTheirPlaceAndNameTheNearest) {
  Error key = refused("block = ", "blok = ");
  EXPECT_THAT(key.what, HasSubstr("did you mean 'block'"));
  EXPECT_EQ(key.where.line, 7u);
  EXPECT_EQ(key.where.column, 1u);
  EXPECT_THAT(refused("[accept]", "[acept]").what, HasSubstr("did you mean 'accept'"));
  EXPECT_THAT(refused("attention\"\nsource", "atention\"\nsource").what, HasSubstr("did you mean 'scaled_dot"));
  Error card = refused("\"cpu\"", "\"cpx\"");
  EXPECT_THAT(card.what, HasSubstr("did you mean 'cpu'"));
  EXPECT_EQ(card.where.line, 4u);
  Error symbol = refused("ceil_div(L,", "ceil_div(Q,");
  EXPECT_THAT(symbol.what, HasSubstr("unknown symbol 'Q'"));
  EXPECT_EQ(symbol.where.line, 6u);
  EXPECT_THAT(refused("causal =", "casual =").what, HasSubstr("did you mean 'causal'"));
  Error value = refused("\"top-left\"", "\"topleft\"");
  EXPECT_THAT(value.what, HasSubstr("did you mean 'top-left'"));
  EXPECT_EQ(value.where.line, 16u);
  EXPECT_THAT(refused("reduce-stride", "reduce_strid").what, HasSubstr("did you mean 'reduce-stride'"));
  EXPECT_THAT(refused("n = \"L\"", "n = \"quary\"").what, HasSubstr("did you mean 'query'"));
}

TEST_F(PortFile, valuesOfTheWrongTypeAreTold) {
  EXPECT_THAT(refused("\"attention\"\n", "42\n").what, HasSubstr("'kernel' must be a string"));
  refused("max_error = 2e-6", "max_error = -1");
  refused("max_error = 2e-6", "max_error = nan");
  refused("min_speed = 0.9", "min_speed = \"fast\"");
  refused("D = [64, 128]", "D = [64, \"x\"]");
  refused("D = [64, 128]", "D = []");
  refused("grid = [\"ceil_div(L, 64)\", \"H\", \"B\"]", "grid = [1, 2, 3, 4]");
  refused("grid = [\"ceil_div(L, 64)\", \"H\", \"B\"]", "grid = []");
  refused("[launch]", "launch = 3\n[accept]");
  refused("kernel.cu", "gone.cu");
  refused("tile = \"64X64\"", "tile = \"64\"");
}

TEST_F(PortFile, cutAnywhereItIsAnErrorOrStillComplete) {
  size_t complete = good.find("shared"); // grid and block are then there
  for (size_t length = 0; length < complete; ++length) {
    Result<Request> request = read(good.substr(0, length));
    bool blockIsThere = length >= good.find("block = [256]") + 13;
    EXPECT_EQ(bool(request), blockIsThere) << length;
    if (!request) {
      EXPECT_EQ(request.error().kind, ErrorKind::User) << length;
    }
  }
}

TEST_F(PortFile, keysThatWouldOverflowTheParsersStackAreRefused) {
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i)
    deep += i % 2 ? ".a" : " . \"b\"";
  for (const std::string &text : {deep + " = 1\n", "[" + deep + "]\n", "x = {" + deep + " = 1}\n"}) {
    Result<Request> request = read(good + text);
    ASSERT_FALSE(request);
    EXPECT_EQ(request.error().kind, ErrorKind::User);
    EXPECT_THAT(request.error().what, HasSubstr("32 names"));
  }
  EXPECT_TRUE(read("# " + std::string(200, '.') + "\n" + good)) << "a ruler in a comment is no key";
}

TEST_F(PortFile, aDefineMustBeNamedLikeAMacro) {
  for (const char *name : {"X; int y", "", "9X", "X\\n#include <x>", "größe", "F(x)"}) {
    Error error = refused("WIDE", "\"" + std::string(name) + "\"");
    EXPECT_THAT(error.what, HasSubstr("no name of a macro"));
    EXPECT_GT(error.where.line, 0u);
  }
}

TEST_F(PortFile, kernelWithoutOperatorNeedsItsBuffersDeclared) {
  EXPECT_THAT(refused("\"scaled_dot_product_attention\"", "\"none\"").what, HasSubstr("[buffers] is missing"));
}

TEST_F(PortFile, badCasesAreRefusedBeforeMemoryIsTaken) {
  for (const char *text : {"B = 1\nH = 2\nQ = 64", "B = 1\nH = 6\nHkv = 4\nL = 8\nS = 8\nD = 8", "L = -1",
                           "B = 1\nH = 1\nL = 1000000\nS = 1000000\nD = 1000000", "L = 8\ndistribution = \"pekaed\"",
                           "B = 4294967296\nH = 4294967296\nL = 1", "L = 8\nmask = \"boll\""}) {
    Result<Request> request = read(good + "[[case]]\n" + text + "\n");
    ASSERT_FALSE(request) << text;
    EXPECT_EQ(request.error().kind, ErrorKind::User);
    EXPECT_FALSE(request.error().where.file.empty()) << text;
  }
}

TEST_F(PortFile, sourceWithOptionsSaysTheSame) {
  SourceOptions said{"scaled_dot_product_attention", "attention", "ceil_div(L, 64), H, B", "256", "", {"n=L", "alpha=0.5"},
                     {"HEAD_DIM=D"}, {"causal=top-left"}, {"D=64,128", "L % 64=0"}};
  Result<Request> request = requestForSource(folder / "kernel.cu", said);
  ASSERT_TRUE(request) << describe(request.error());
  EXPECT_EQ(request->launch.grid[0].text, "ceil_div(L, 64)");
  EXPECT_EQ(request->launch.grid.size(), 3u);
  EXPECT_EQ(request->arguments.at("alpha").text, "0.5");
  EXPECT_EQ(request->limits[0].values, (std::vector<int64_t>{64, 128}));
  EXPECT_EQ(request->options.at("causal"), "top-left");
  said.grid = "ceil_div(Q, 64)";
  EXPECT_FALSE(requestForSource(folder / "kernel.cu", said));
  said.grid = "";
  EXPECT_FALSE(requestForSource(folder / "kernel.cu", said));
}

/// The good file with these sections in it, and a launch that names a parameter.
std::string withParameters(const std::string &sections) {
  std::string text = good;
  text.replace(text.find("[256]"), 5, "[\"threads\"]");
  return text + sections;
}

TEST_F(PortFile, ParametersAreReadWithTheirRules) {
  Result<Request> request = read(withParameters("[parameters.threads]\nvalue = 64\nsearch = [64, 128]\nmust = \"threads % 32 == 0\"\nwhy = \"whole warps\"\n"
                                                "[parameters.rows]\nvalue = 16\nhint = \"tile.rows\"\n"));
  ASSERT_TRUE(request) << describe(request.error());
  ASSERT_EQ(request->parameters.size(), 2u);
  EXPECT_EQ(request->parameters[0].hint, "tile.rows");
  EXPECT_EQ(request->parameters[1].value, 64);
  EXPECT_EQ(request->parameters[1].search, (std::vector<int64_t>{64, 128}));
  EXPECT_EQ(request->launch.block.front().text, "threads");
}

TEST_F(PortFile, ParametersWithSlipsAreRefusedAtTheirPlaces) {
  struct Slip {
    const char *sections, *words;
  };
  for (const Slip &slip : {Slip{"[parameters.threads]\nsearch = [64]\n", "has no value"},
                           Slip{"[parameters.threads]\nvalue = 64\nvalues = [1]\n", "did you mean 'value'"},
                           Slip{"[parameters.threads]\nvalue = 48\nmust = \"threads % 32 == 0\"\n", "breaks its own rule"},
                           Slip{"[parameters.threads]\nvalue = 64\nmust = \"threads % L == 0\"\n", "'L'"},
                           Slip{"[parameters.threads]\nvalue = 64\nhint = \"tile.row\"\n", "tile.rows"},
                           Slip{"[parameters.threads]\nvalue = 64\n[parameters.L]\nvalue = 1\n", "something of the operator"},
                           Slip{"[parameters]\nthreads = 64\n", "section"}}) {
    Result<Request> request = read(withParameters(slip.sections));
    ASSERT_FALSE(request) << slip.sections;
    EXPECT_EQ(request.error().kind, ErrorKind::User);
    EXPECT_THAT(describe(request.error()), HasSubstr(slip.words)) << slip.sections;
  }
}

} // namespace
