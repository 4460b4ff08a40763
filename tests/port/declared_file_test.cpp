// Port files of kernels without an operator: what is declared ends in the request, and reading it back gives the same.
#include "port/artifact_files.h"
#include "port/port_file.h"
#include "port/settle.h"
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace opsight;
using namespace opsight::port;
using testing::HasSubstr;
using Role = ops::TensorInfo::Role;

namespace {

const std::string declaration = R"toml(operator = "none"
source = "kernel.cu"
[symbols]
n = [1, 100]
m = 3
[buffers]
x = { type = "float", count = "n * m" }
t = { type = "int", count = 64, role = "scratch" }
y = { type = "double", count = "n", role = "output" }
z = { type = "unsigned int", count = "n", role = "output", fill = "zero" }
)toml";
const std::string launches = R"toml([[launch]]
kernel = "first"
grid = ["ceil_div(n, 64)"]
block = [64]
arguments = { a = 2.5, k = "n * m" }
[[launch]]
kernel = "second"
grid = [1]
block = ["m"]
shared = "4 * m"
[reference]
source = "plain.cpp"
function = "ours::plain"
[reference.arguments]
b = 0.5
)toml";

class DeclaredFile : public testing::Test {
protected:
  void SetUp() override {
    setenv("OPSIGHT_ROOT", OPSIGHT_SOURCE_DIR, 1);
    folder = std::filesystem::temp_directory_path() / ("opsight-declared-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "kernel.cu") << "// empty\n";
    std::ofstream(folder / "plain.cpp") << "// empty\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  Result<Request> read(const std::string &text) {
    std::ofstream(folder / "port.toml", std::ios::trunc) << text;
    return readPortFile(folder / "port.toml");
  }
  std::filesystem::path folder;
};

TEST_F(DeclaredFile, AllItsPartsEndInTheRequest) {
  Result<Request> request = read(declaration + launches);
  ASSERT_TRUE(request) << describe(request.error());
  EXPECT_EQ(request->op, request->declared.get());
  EXPECT_EQ(request->op->cases({}).size(), 6u);
  EXPECT_EQ(request->declared->buffer("t")->role, Role::Scratch);
  EXPECT_EQ(request->declared->buffer("y")->fill, ops::Fill::Poison);
  EXPECT_EQ(request->declared->buffer("z")->role, Role::InOut) << "an output that begins with data is compared with that in mind";
  EXPECT_EQ(request->kernel, "first");
  EXPECT_EQ(request->arguments.at("a").text, "2.5");
  ASSERT_EQ(request->then.size(), 1u);
  EXPECT_EQ(request->then[0].kernel, "second");
  EXPECT_TRUE(request->then[0].arguments.empty());
  EXPECT_EQ(request->then[0].launch.shared.text, "4 * m");
  EXPECT_EQ(request->launch.shared.text, "0");
  EXPECT_EQ(request->reference.function, "ours::plain");
  EXPECT_EQ(request->reference.arguments.at("b").text, "0.5");
}

TEST_F(DeclaredFile, WhatIsWrittenForAReplayReadsAsTheSame) {
  Result<Request> request = read(declaration + launches);
  ASSERT_TRUE(request) << describe(request.error());
  request->card = "cpu";
  std::string text = portFileText(faithful(*request), *request, (folder / "kernel.cu").string());
  Result<Request> again = read(text);
  ASSERT_TRUE(again) << describe(again.error()) << "\n" << text;
  EXPECT_EQ(portFileText(faithful(*again), *again, (folder / "kernel.cu").string()), text);
  std::vector<std::string> notes;
  EXPECT_TRUE(settle(*again, {}, notes)) << "the bars that are written are those that it may have";
}

TEST_F(DeclaredFile, TheOriginalIsAReferenceInOneWord) {
  std::string head = declaration + "[launch]\ngrid = [1]\nblock = [1]\n";
  EXPECT_TRUE(read(head + "[reference]\nsource = \"original\"\n")->reference.source.empty());
  EXPECT_TRUE(read("reference = \"original\"\n" + head)->reference.source.empty());
  EXPECT_THAT(read("reference = \"orignal\"\n" + head).error().what, HasSubstr("did you mean 'original'"));
  EXPECT_FALSE(read(head + "[reference]\nsource = \"plain.cpp\"\n"));
  EXPECT_FALSE(read(head + "[reference]\nsource = \"original\"\nfunction = \"f\"\n"));
}

TEST_F(DeclaredFile, ASymbolMayHaveTheNameOfAPartOfACase) {
  std::string text = "operator = \"none\"\nsource = \"kernel.cu\"\n[symbols]\nscale = 4\n[buffers]\ny = { type = \"int\", count = \"scale\", role = "
                     "\"output\" }\n[launch]\ngrid = [1]\nblock = [1]\n[reference]\nsource = \"original\"\n[[case]]\nscale = 9\n";
  Result<Request> request = read(text);
  ASSERT_TRUE(request) << describe(request.error());
  EXPECT_EQ(request->cases.front().symbols.at("scale"), 9);
}

TEST_F(DeclaredFile, IsJudgedForAccuracyAlone) {
  Result<Request> request = read(declaration + launches);
  std::vector<std::string> notes;
  ASSERT_TRUE(settle(*request, {}, notes));
  EXPECT_TRUE(request->accept.accuracyOnly);
  EXPECT_EQ(request->card, "cpu");
  Overrides fast;
  fast.minSpeed = 0.5;
  EXPECT_EQ(settle(*request, fast, notes).error().kind, ErrorKind::Unsupported);
}

} // namespace
