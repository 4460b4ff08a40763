// Kernels without an operator: what is declared of them, what their buffers begin with, and what a wrong output looks like.
#include "operator/declared.h"
#include "operator/npy.h"
#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace opsight::ops {
namespace {

using testing::HasSubstr;
using Role = TensorInfo::Role;

BufferType typeOf(const std::string &name) {
  for (const BufferType &type : bufferTypes())
    if (type.name == name)
      return type;
  ADD_FAILURE() << name;
  return {};
}

DeclaredBuffer bufferOf(const std::string &name, const std::string &type, const std::string &count, Fill fill = Fill::Normal,
                        Role role = Role::Input) {
  return {name, typeOf(type), count, fill, {}, role};
}
DeclaredBuffer output(const std::string &count = "n") { return bufferOf("y", "float", count, Fill::Poison, Role::Output); }

/// Knows one answer, whatever the inputs.
struct Fixed : Oracle {
  std::map<std::string, Tensor> answer;
  Result<std::map<std::string, Tensor>> outputs(const Case &, const Problem &) override { return answer; }
};

template <class T> Tensor tensorOf(ElementType type, const std::vector<T> &values) {
  Tensor tensor{type, {int64_t(values.size())}, std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

TEST(Declared, TriesEveryCombinationOfSizesWithThreeSeeds) {
  auto op = Declared::create({{"n", {1, 5}}, {"m", {2, 3}}}, {bufferOf("x", "float", "n * m"), output()});
  ASSERT_TRUE(op) << describe(op.error());
  std::vector<Case> cases = (*op)->cases({});
  ASSERT_EQ(cases.size(), 12u);
  EXPECT_EQ(cases[0].name, "m=2 n=1");
  EXPECT_EQ(cases[4].symbols, (Symbols{{"n", 1}, {"m", 3}}));
  EXPECT_EQ(cases[4].name, "m=3 n=1 seed 2");
}

TEST(Declared, TriesOneSeedWhereNoDataAreRandom) {
  auto op = Declared::create({{"n", {1, 5}}}, {bufferOf("x", "int", "n", Fill::Iota), output()});
  EXPECT_EQ((*op)->cases({}).size(), 2u);
}

TEST(Declared, RefusesMoreThan64Combinations) {
  std::vector<int64_t> nine(9, 1);
  auto op = Declared::create({{"n", nine}, {"m", nine}}, {output()});
  ASSERT_FALSE(op);
  EXPECT_THAT(op.error().what, HasSubstr("64"));
}

TEST(Declared, RefusesSizesThatNoMemoryHoldsByTheirCountAlone) {
  for (const char *count : {"1000000000000", "n * n * n", "0 - n", "n / 0"}) {
    auto op = Declared::create({{"n", {1000000}}}, {output(count)});
    ASSERT_FALSE(op) << count;
    EXPECT_EQ(op.error().kind, ErrorKind::User) << count;
  }
}

TEST(Declared, RefusesWhatHasNoOutput) {
  auto op = Declared::create({{"n", {1}}}, {bufferOf("x", "float", "n"), bufferOf("t", "float", "n", Fill::Poison, Role::Scratch)});
  EXPECT_FALSE(op);
}

TEST(Declared, CompletesACaseWithTheFirstOfEachSize) {
  auto op = Declared::create({{"n", {7, 8}}, {"m", {3}}}, {output()});
  Case partial;
  partial.symbols = {{"m", 4}};
  auto complete = (*op)->completeCase(partial);
  EXPECT_EQ(complete->symbols, (Symbols{{"n", 7}, {"m", 4}}));
  partial.distribution = "peaked";
  EXPECT_FALSE((*op)->completeCase(partial));
}

TEST(Declared, FillsAreTheSameForTheSameSeedAndDifferForAnother) {
  for (const char *type : {"float", "double", "int", "unsigned int", "long long", "unsigned char", "char"})
    for (Fill fill : {Fill::Normal, Fill::Uniform}) {
      DeclaredBuffer buffer = bufferOf("x", type, "n", fill);
      auto one = fillOf(buffer, 500, 3), same = fillOf(buffer, 500, 3), other = fillOf(buffer, 500, 4);
      EXPECT_EQ(one->bytes, same->bytes) << type;
      EXPECT_NE(one->bytes, other->bytes) << type;
    }
}

TEST(Declared, FillsStayInTheirRanges) {
  auto whole = fillOf(bufferOf("x", "int", "n", Fill::Uniform), 1000, 1);
  for (int32_t value : whole->as<int32_t>())
    EXPECT_TRUE(value >= 0 && value < 100);
  auto truth = fillOf(bufferOf("x", "bool", "n", Fill::Normal), 1000, 1);
  int ones = 0;
  for (uint8_t value : truth->as<uint8_t>()) {
    ASSERT_LE(value, 1);
    ones += value;
  }
  EXPECT_NEAR(ones, 500, 100);
  auto iota = fillOf(bufferOf("x", "unsigned char", "n", Fill::Iota), 300, 1);
  EXPECT_EQ(iota->as<uint8_t>()[299], 299 - 256);
  auto zero = fillOf(bufferOf("x", "double", "n", Fill::Zero), 3, 1);
  EXPECT_EQ(zero->as<double>()[2], 0);
}

class Npy : public testing::Test {
protected:
  std::filesystem::path file = std::filesystem::temp_directory_path() / ("opsight-npy-" + std::to_string(::getpid()) + ".npy");
  void TearDown() override { std::filesystem::remove(file); }
  void write(const std::string &header, const std::string &data) {
    std::string text = header + "\n";
    std::ofstream(file, std::ios::binary) << "\x93NUMPY" << '\x01' << '\0' << char(text.size() & 0xFF) << char(text.size() >> 8)
                                          << text << data;
  }
  Result<Tensor> filled(const char *type, int64_t count) {
    DeclaredBuffer buffer = bufferOf("x", type, "n", Fill::File);
    buffer.file = file;
    return fillOf(buffer, count, 1);
  }
};

TEST_F(Npy, IsReadAsItIs) {
  float values[] = {1.5f, -2, 3};
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", std::string(reinterpret_cast<char *>(values), sizeof values));
  auto tensor = filled("float", 3);
  ASSERT_TRUE(tensor) << describe(tensor.error());
  EXPECT_EQ(tensor->as<float>()[1], -2);
  EXPECT_EQ(readNpy(file)->shape, std::vector<int64_t>{3});
}

TEST_F(Npy, OfAnotherTypeOrSizeIsRefused) {
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", std::string(16, '\0'));
  EXPECT_TRUE(filled("float", 4));
  EXPECT_FALSE(filled("float", 3));
  EXPECT_FALSE(filled("int", 4));
  EXPECT_FALSE(filled("double", 4));
}

TEST_F(Npy, ThatIsBrokenIsRefused) {
  for (const char *header : {"{'descr': '<f4', 'fortran_order': True, 'shape': (4,), }", "{'descr': '>f4', 'fortran_order': False, 'shape': (4,), }",
                             "{'descr': '<f4', 'fortran_order': False, }", "", "{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"}) {
    write(header, std::string(16, '\0'));
    EXPECT_FALSE(filled("float", 4)) << header;
  }
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", std::string(15, '\0'));
  EXPECT_FALSE(filled("float", 4));
  std::ofstream(file, std::ios::binary) << "\x93NUMPY\x01";
  EXPECT_FALSE(filled("float", 4));
}

ParameterView pointerTo(const std::string &name, ElementType element) { return {name, true, false, element, 8, "float *"}; }
ParameterView number(const std::string &name, ElementType element) { return {name, false, false, element, 4, "int"}; }

class DeclaredBinding : public testing::Test {
protected:
  std::shared_ptr<Declared> op = *Declared::create({{"n", {4}}, {"L", {2}}}, {bufferOf("d_x", "float", "n"), output()});
  Result<std::vector<Bound>> bound(std::vector<ParameterView> parameters, std::map<std::string, std::string> arguments = {}) {
    return bind(*op, parameters, arguments, {});
  }
};

TEST_F(DeclaredBinding, TakesNamesAsTheyAre) {
  auto bounds = bound({pointerTo("d_x", ElementType::Float32), pointerTo("y", ElementType::Float32), number("n", ElementType::Int32),
                       number("a", ElementType::Float32)},
                      {{"a", "2.5"}});
  ASSERT_TRUE(bounds) << describe(bounds.error());
  EXPECT_EQ((*bounds)[0].text, "d_x");
  EXPECT_EQ((*bounds)[2].text, "n");
  EXPECT_EQ((*bounds)[3].value, 2.5);
}

TEST_F(DeclaredBinding, KnowsNoneOfTheOperatorsSpellings) {
  EXPECT_FALSE(bound({number("scale", ElementType::Float32)}));
  EXPECT_FALSE(bound({number("seq_len", ElementType::Int32)}));
  EXPECT_FALSE(bound({pointerTo("x", ElementType::Float32)}));
  Bound bounds[] = {{Bound::Kind::Expression, "L"}};
  EXPECT_TRUE(impliedRequirements(*op, bounds, {}).empty()) << "a symbol L is no number of queries";
}

TEST_F(DeclaredBinding, MayHandOneBufferToTwoParameters) {
  EXPECT_TRUE(bound({pointerTo("from", ElementType::Float32), pointerTo("to", ElementType::Float32)}, {{"from", "y"}, {"to", "y"}}));
}

TEST_F(DeclaredBinding, RefusesAnotherTypeAndUnknownNames) {
  EXPECT_THAT(bound({pointerTo("y", ElementType::Int32)}).error().what, HasSubstr("declared as float"));
  EXPECT_THAT(bound({pointerTo("y", ElementType::Float32)}, {{"yy", "y"}}).error().what, HasSubstr("did you mean 'y'"));
  EXPECT_THAT(bound({pointerTo("p", ElementType::Float32)}, {{"p", "d_xx"}}).error().what, HasSubstr("did you mean 'd_x'"));
  EXPECT_THAT(bound({number("k", ElementType::Int32)}, {{"k", "nn + 1"}}).error().what, HasSubstr("did you mean 'n'"));
  EXPECT_THAT(bound({number("k", ElementType::Int32)}, {{"k", "0.5"}}).error().what, HasSubstr("no integer"));
}

TEST(DeclaredDiagnosis, TellsAShiftFromAnUntouchedOutputFromOtherValues) {
  auto op = *Declared::create({{"n", {5}}}, {bufferOf("y", "float", "n", Fill::Iota, Role::InOut)});
  auto oracle = std::make_shared<Fixed>();
  oracle->answer["y"] = tensorOf<float>(ElementType::Float32, {10, 21, 32, 43, 54});
  op->answerWith(oracle);
  auto problem = op->make(op->cases({}).front(), 1);
  ASSERT_TRUE(problem);
  auto phase = [&](std::vector<float> got) {
    return op->diagnose({}, *problem, {{"y", tensorOf(ElementType::Float32, got)}}, "y", 0).phase;
  };
  EXPECT_EQ(phase({10, 10, 21, 32, 43}), "neighbour");
  EXPECT_EQ(phase({21, 32, 43, 54, 54}), "neighbour");
  EXPECT_EQ(phase({10, 21, 32, 3, 4}), "unchanged");
  EXPECT_EQ(phase({9, 8, 7, 6, 5}), "values");
}

TEST(Declared, KeepsWholeNumbersExactlyBesideTheirDoubles) {
  auto op = *Declared::create({{"n", {1}}}, {bufferOf("y", "long long", "n", Fill::Poison, Role::Output)});
  auto oracle = std::make_shared<Fixed>();
  oracle->answer["y"] = tensorOf<int64_t>(ElementType::Int64, {(int64_t(1) << 60) + 1});
  op->answerWith(oracle);
  auto problem = op->make(op->cases({}).front(), 1);
  EXPECT_EQ(problem->exact.at("y").as<int64_t>()[0], (int64_t(1) << 60) + 1);
  EXPECT_EQ(problem->outputs.at("y")[0], 0x1p60);
}

} // namespace
} // namespace opsight::ops
