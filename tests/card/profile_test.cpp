#include "card/profile.h"
#include "base/file.h"
#include "card/session.h"
#include <cstdlib>
#include <gmock/gmock.h>
#include <set>
#include <unistd.h>

namespace opsight::card {
namespace {
using testing::HasSubstr;

/// A cards/ folder of the test's own.
class OwnCards : public testing::Test {
protected:
  void SetUp() override { ::setenv("OPSIGHT_ROOT", root.c_str(), 1); }
  void TearDown() override {
    ::unsetenv("OPSIGHT_ROOT");
    std::filesystem::remove_all(root);
  }
  Error errorOf(const std::string &text) {
    EXPECT_TRUE(writeFile(root / "cards/odd.toml", text));
    auto profiles = allProfiles();
    EXPECT_FALSE(profiles);
    return profiles ? Error{} : profiles.error();
  }
  const std::string sound = "name = \"odd\"\ndescription = \"a card\"\nir = \"spirv\"\ndriver = \"opencl\"\nmapping = \"simt\"\n";
  std::filesystem::path root = std::filesystem::temp_directory_path() / ("opsight-cards-" + std::to_string(::getpid()));
};

TEST(Profiles, AllThatAreShippedAreSoundAndGiveTheirSources) {
  auto profiles = allProfiles();
  ASSERT_TRUE(profiles) << describe(profiles.error());
  std::set<std::string> names;
  for (const Profile &profile : *profiles) {
    EXPECT_TRUE(names.insert(profile.name).second) << profile.name;
    EXPECT_FALSE(profile.description.empty());
    for (const Figure &figure : profile.figures)
      EXPECT_GT(figure.source.size(), 10u) << profile.name << " " << figure.key;
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"cpu", "opencl:pocl", "opencl:intel"}));
}

TEST(Profiles, AFigureIsFoundByItsKey) {
  Profile cpu = findProfile("cpu").value();
  EXPECT_EQ(cpu.mapping, Mapping::Simd);
  EXPECT_EQ(cpu.figure("max_grid_y"), 65535.0);
  EXPECT_FALSE(cpu.figure("no_such_figure"));
}

TEST(Profiles, CardsWithoutADriverAreProfilesOnly) {
  for (const char *name : {"a100", "h100", "rtx4090", "mi300x", "ascend910b", "generic"}) {
    EXPECT_FALSE(findProfile(name).value().canRun()) << name;
    auto session = Session::open(name, {});
    ASSERT_FALSE(session) << name;
    EXPECT_EQ(session.error().kind, ErrorKind::User);
    EXPECT_THAT(session.error().what, HasSubstr("profile only"));
    EXPECT_THAT(session.error().next, HasSubstr("cpu, cpu:avx2, opencl:"));
  }
  EXPECT_TRUE(findProfile("cpu").value().canRun());
}

TEST(Profiles, AnUnknownCardNamesTheNearest) {
  Error error = findProfile("opencl:pcol").error();
  EXPECT_EQ(error.kind, ErrorKind::User);
  EXPECT_THAT(error.what, HasSubstr("did you mean 'opencl:pocl'"));
}

TEST_F(OwnCards, ABrokenFileNamesItsLine) {
  Error error = errorOf(sound + "warp_width = = 3\n");
  EXPECT_EQ(error.kind, ErrorKind::User);
  EXPECT_THAT(error.where.file, HasSubstr("odd.toml"));
  EXPECT_EQ(error.where.line, 6u);
}

TEST_F(OwnCards, AnUnknownKeyNamesItsLineAndTheNearestKey) {
  Error error = errorOf(sound + "\nwarp_widht = 32\n");
  EXPECT_THAT(error.what, HasSubstr("did you mean 'warp_width'"));
  EXPECT_EQ(error.where.line, 7u);
}

TEST_F(OwnCards, AMissingKeyOrSourceIsAnError) {
  EXPECT_THAT(errorOf("name = \"odd\"\n").what, HasSubstr("'description'"));
  EXPECT_THAT(errorOf(sound + "[[figure]]\nkey = \"k\"\nvalue = 3\nunit = \"bytes\"\n").what, HasSubstr("'source'"));
  EXPECT_THAT(errorOf("name = 3\n").what, HasSubstr("'name' must be a text"));
}

TEST_F(OwnCards, AMappingIsOneOfTwo) {
  EXPECT_THAT(errorOf(sound.substr(0, sound.find("mapping")) + "mapping = \"mimd\"\n").what, HasSubstr("\"simt\" or \"simd\""));
}

} // namespace
} // namespace opsight::card
