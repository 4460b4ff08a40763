// The tool's side of the protocol against a worker that sends anything.
#include "card/wire.h"
#include <fcntl.h>
#include <gmock/gmock.h>
#include <random>
#include <sys/socket.h>
#include <unistd.h>

namespace opsight::card::wire {
namespace {

struct Pair {
  Pair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0); }
  ~Pair() {
    for (int end : ends)
      ::close(end);
  }
  int ends[2] = {-1, -1};
};

LaunchRequest sampleLaunch() {
  return {3, {{1, 2, 3}, {4, 5, 6}, 789, 77}, {{WireArgument::Kind::Buffer, 9, ""}, {WireArgument::Kind::Scalar, 0, "abcd"}}};
}

DeviceInfo sampleInfo() {
  DeviceInfo info;
  info.device = "a processor";
  info.driver = "a driver 1.0";
  info.takesIl = info.hasHalf = info.watchesBarriers = true;
  info.subgroupWidths = {8, 16};
  info.sharedBytes = 49152;
  info.maxGrid = {1, 2, 3};
  return info;
}

TEST(Wire, CarriesALaunchUnchanged) {
  LaunchRequest back;
  std::string bytes = encode(sampleLaunch());
  Reader reader(bytes);
  ASSERT_TRUE(decode(reader, back));
  EXPECT_EQ(back.config.grid, (Dim3{1, 2, 3}));
  EXPECT_EQ(back.config.block, (Dim3{4, 5, 6}));
  EXPECT_EQ(back.config.dynamicSharedBytes, 789u);
  EXPECT_EQ(back.config.order, 77u);
  ASSERT_EQ(back.arguments.size(), 2u);
  EXPECT_EQ(back.arguments[1].scalar, "abcd");
}

TEST(Wire, CarriesADeviceUnchanged) {
  DeviceInfo back;
  std::string bytes = encode(sampleInfo());
  Reader reader(bytes);
  ASSERT_TRUE(decode(reader, back));
  EXPECT_EQ(back.driver, "a driver 1.0");
  EXPECT_TRUE(back.takesIl);
  EXPECT_FALSE(back.hasDouble);
  EXPECT_TRUE(back.watchesBarriers);
  EXPECT_THAT(back.subgroupWidths, testing::ElementsAre(8u, 16u));
}

TEST(Wire, RefusesEveryTruncationOfAMessage) {
  std::string launch = encode(sampleLaunch()), info = encode(sampleInfo());
  for (size_t n = 0; n < launch.size(); ++n) {
    LaunchRequest back;
    Reader reader(std::string_view(launch).substr(0, n));
    EXPECT_FALSE(decode(reader, back)) << n;
  }
  for (size_t n = 0; n < info.size(); ++n) {
    DeviceInfo back;
    Reader reader(std::string_view(info).substr(0, n));
    EXPECT_FALSE(decode(reader, back)) << n;
  }
}

TEST(Wire, SurvivesRandomBytes) {
  std::mt19937 generator(5);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes(generator() % 400, '\0');
    for (char &c : bytes)
      c = static_cast<char>(generator() % 4 ? generator() : 0xFF);
    LaunchRequest launch;
    DeviceInfo info;
    Reader first(bytes), second(bytes);
    decode(first, launch);
    decode(second, info);
    EXPECT_LE(launch.arguments.size() * 5, bytes.size() + 5);
  }
}

TEST(Wire, TellsMalformedDatagramsFromAClosedSocket) {
  Pair pair;
  Datagram datagram;
  std::string garbage[] = {"x", std::string(16, '\xff'), std::string(5000, '\0')};
  for (const std::string &bytes : garbage) {
    ::send(pair.ends[1], bytes.data(), bytes.size(), 0);
    EXPECT_EQ(receive(pair.ends[0], datagram), Received::Malformed);
  }
  ASSERT_TRUE(send(pair.ends[1], Type::Peak, 8, "payload"));
  EXPECT_EQ(receive(pair.ends[0], datagram), Received::Datagram);
  EXPECT_EQ(datagram.sequence, 8u);
  EXPECT_EQ(datagram.payload, "payload");
  ::shutdown(pair.ends[1], SHUT_RDWR);
  EXPECT_EQ(receive(pair.ends[0], datagram), Received::Closed);
}

TEST(Wire, RefusesToSendWhatTheOtherSideWouldCutOff) {
  Pair pair;
  EXPECT_FALSE(send(pair.ends[0], Type::Load, 1, std::string(maxDatagram, 'x')));
}

TEST(Wire, PassesADescriptorThatNoChildInherits) {
  Pair pair;
  ASSERT_TRUE(send(pair.ends[1], Type::Map, 1, "", STDERR_FILENO));
  Datagram datagram;
  ASSERT_EQ(receive(pair.ends[0], datagram), Received::Datagram);
  EXPECT_GE(datagram.fd, 0);
  EXPECT_TRUE(::fcntl(datagram.fd, F_GETFD) & FD_CLOEXEC);
  ::close(datagram.fd);
}

} // namespace
} // namespace opsight::card::wire
