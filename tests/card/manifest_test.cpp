#include "card/artifact.h"
#include "card/message_text.h"
#include <bit>
#include <cstring>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace opsight::card {
namespace {

TEST(Manifest, SaysHowToLaunchAndWhatTheCodeHashesTo) {
  Artifact artifact;
  artifact.code = "abc";
  artifact.manifest = {.kernel = "flash<64, 64>", .entry = "flash_64", .format = Format::SpirV,
                       .parameters = {{.name = "q"}, {.name = "n", .kind = Parameter::Kind::Scalar, .bytes = 4}}};
  artifact.manifest.requiredBlock = Dim3{256, 1, 1};
  auto json = nlohmann::json::parse(manifestJson(artifact));
  EXPECT_EQ(json["kernel"], "flash<64, 64>");
  EXPECT_EQ(json["format"], "spirv");
  EXPECT_EQ(json["parameters"][1]["kind"], "scalar");
  EXPECT_EQ(json["required_block"], nlohmann::json({256, 1, 1}));
  EXPECT_EQ(json["code"]["sha256"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Manifest, TakesNamesThatAreNoUtf8) {
  Artifact artifact;
  artifact.manifest.kernel = "k\xff";
  EXPECT_FALSE(nlohmann::json::parse(manifestJson(artifact))["kernel"].get<std::string>().empty());
}

uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }

TEST(DevicePrintf, FormatsAsCDoes) {
  EXPECT_EQ(formatMessage("%d|%5d|%-3d|%u\n", std::vector<uint64_t>{uint64_t(-3), 42, 7, 4000000000u}), "-3|   42|7  |4000000000\n");
  EXPECT_EQ(formatMessage("%.3f %e %g", std::vector<uint64_t>{bits(1.5), bits(2), bits(0.1)}), "1.500 2.000000e+00 0.1");
  EXPECT_EQ(formatMessage("%lld %zu %x", std::vector<uint64_t>{1ull << 40, 5, 255}), "1099511627776 5 ff");
  EXPECT_EQ(formatMessage("100%% %c", std::vector<uint64_t>{'x'}), "100% x");
}

TEST(DevicePrintf, ShowsWhatHasNoArgumentAsWritten) {
  EXPECT_EQ(formatMessage("%d and %s %", {}), "%d and %s %");
  EXPECT_EQ(formatMessage("%999999999d", std::vector<uint64_t>{1}), "1");
}

class MessageBuffer : public testing::Test {
protected:
  void SetUp() override { resetMessages(bytes); }
  void put(std::initializer_list<uint32_t> words) {
    MessageHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    for (uint32_t word : words)
      std::memcpy(bytes.data() + sizeof header + 4ull * header.used++, &word, 4);
    std::memcpy(bytes.data(), &header, sizeof header);
  }
  std::vector<std::byte> bytes{messageBufferBytes};
  const std::vector<std::string> formats = {"a %d\n", "k.cu:9: Assertion `x' failed\n"};
};

TEST_F(MessageBuffer, GivesRecordsInOrder) {
  put({0, 2, 5, 0});
  put({0, 2, 0xFFFFFFFF, 0xFFFFFFFF});
  EXPECT_EQ(readMessages(bytes, formats).printed, "a 5\na -1\n");
  EXPECT_FALSE(readMessages(bytes, formats).asserted);
}

TEST_F(MessageBuffer, StopsAtGarbage) {
  put({0, 2, 5, 0});
  put({77, 2, 5, 0});
  EXPECT_EQ(readMessages(bytes, formats).printed, "a 5\n");
  resetMessages(bytes);
  put({0, 0xFFFFFFF0, 5, 0});
  EXPECT_EQ(readMessages(bytes, formats).printed, "");
}

TEST_F(MessageBuffer, SaysWhenMoreWasPrintedThanFits) {
  MessageHeader header{0xFFFFFFFF, messageWords, 1, 0};
  std::memcpy(bytes.data(), &header, sizeof header);
  Messages messages = readMessages(bytes, formats);
  EXPECT_THAT(messages.printed, testing::HasSubstr("more was printed"));
  EXPECT_TRUE(messages.asserted);
  EXPECT_FALSE(messages.assertion.empty());
}

TEST_F(MessageBuffer, SaysWhereThreadsDidNotMeetWithTheTextOfThePlace) {
  const std::vector<std::string> texts = {"k.cu:7", "%s: threads did not meet in block %u\n", "%-5s\n"};
  uint32_t words[] = {1, 4, 0, 0, 3, 0, 2, 2, 9, 0}; // two records: place 0 in block 3; %s of no text
  MessageHeader header{10, messageWords, 0, 2};
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, words, sizeof words);
  Messages messages = readMessages(bytes, texts);
  EXPECT_EQ(messages.unmet, "k.cu:7: threads did not meet in block 3");
  EXPECT_THAT(messages.printed, testing::EndsWith("%-5s\n"));
}

} // namespace
} // namespace opsight::card
