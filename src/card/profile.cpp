#include "card/profile.h"
#include "base/file.h"
#include "base/text.h"
#include <algorithm>
#include <toml++/toml.h>

namespace opsight::card {

namespace {
namespace fs = std::filesystem;

/// Reads one profile; every complaint is a user error with the file and the line.
class ProfileReader {
public:
  explicit ProfileReader(const fs::path &path) : path_(path) {}

  Result<Profile> read() {
    auto text = readFile(path_);
    if (!text)
      return std::unexpected(text.error());
    toml::table table;
    try { // Debian builds the library with exceptions; they end here
      table = toml::parse(*text, path_.string());
    } catch (const toml::parse_error &error) {
      return complain(error.source(), std::string(error.description()));
    }
    Profile profile;
    profile.name = string(table, "name");
    profile.description = string(table, "description");
    profile.ir = string(table, "ir");
    profile.driver = string(table, "driver");
    profile.icd = string(table, "icd", "");
    profile.processor = string(table, "processor", "");
    profile.vectorFloats = static_cast<uint32_t>(std::clamp<int64_t>(table["vector_floats"].value_or<int64_t>(0), 0, 64));
    profile.warpWidth = static_cast<uint32_t>(std::clamp<int64_t>(table["warp_width"].value_or<int64_t>(32), 1, 1024));
    std::string mapping = string(table, "mapping");
    if (mapping != "simt" && mapping != "simd")
      note(table.get("mapping"), "mapping must be \"simt\" or \"simd\"");
    profile.mapping = mapping == "simd" ? Mapping::Simd : Mapping::Simt;
    static const std::vector<std::string> known = {"name",   "description", "ir",         "driver", "icd", "processor", "vector_floats",
                                                   "mapping", "warp_width", "cannot", "figure"};
    for (const auto &[key, value] : table)
      if (std::ranges::find(known, std::string(key.str())) == known.end())
        note(&value, unknownName("key", key.str(), known));
    readCannot(table, profile);
    readFigures(table, profile);
    if (complaint_)
      return std::unexpected(*complaint_);
    return profile;
  }

private:
  std::unexpected<Error> complain(const toml::source_region &at, std::string what) {
    return userError(std::move(what), {}, {path_.string(), at.begin.line, at.begin.column});
  }
  void note(const toml::node *at, std::string what) {
    if (!complaint_)
      complaint_ = complain(at ? at->source() : toml::source_region{}, std::move(what)).error();
  }
  std::string string(const toml::table &table, const char *key, std::optional<std::string> otherwise = std::nullopt) {
    if (auto value = table[key].value<std::string>())
      return *value;
    if (!otherwise || table.get(key))
      note(table.get(key) ? table.get(key) : &table, std::string("'") + key + "' must be a text");
    return otherwise.value_or("");
  }
  void readCannot(const toml::table &table, Profile &profile) {
    if (const toml::array *items = table["cannot"].as_array())
      for (const toml::node &item : *items) {
        if (!item.is_string())
          note(&item, "'cannot' holds texts");
        profile.cannot.push_back(item.value_or<std::string>(""));
      }
  }
  void readFigures(const toml::table &table, Profile &profile) {
    const toml::array *items = table["figure"].as_array();
    if (!items)
      return;
    for (const toml::node &item : *items) {
      const toml::table *row = item.as_table();
      if (!row) {
        note(&item, "'figure' holds tables");
        continue;
      }
      auto value = (*row)["value"].value<double>();
      if (!value)
        note(row, "a figure needs a number 'value'");
      Figure figure{string(*row, "key"), value.value_or(0), string(*row, "unit"), string(*row, "source")};
      profile.figures.push_back(std::move(figure));
    }
  }

  fs::path path_;
  std::optional<Error> complaint_;
};
} // namespace

std::optional<double> Profile::figure(std::string_view key) const {
  for (const Figure &figure : figures)
    if (figure.key == key)
      return figure.value;
  return std::nullopt;
}

Result<std::vector<Profile>> allProfiles() {
  std::vector<Profile> profiles;
  std::error_code failed;
  fs::path folder = dataRoot() / "cards";
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    if (entry->path().extension() != ".toml")
      continue;
    auto profile = ProfileReader(entry->path()).read();
    if (!profile)
      return std::unexpected(profile.error());
    profiles.push_back(std::move(*profile));
  }
  if (failed || profiles.empty())
    return userError("no card profiles in '" + folder.string() + "'", "set OPSIGHT_ROOT to Opsight's folder");
  std::ranges::sort(profiles, {}, &Profile::name);
  return profiles;
}

Result<Profile> findProfile(const std::string &name) {
  auto profiles = allProfiles();
  if (!profiles)
    return std::unexpected(profiles.error());
  std::vector<std::string> known;
  for (Profile &profile : *profiles) {
    if (profile.name == name)
      return std::move(profile);
    known.push_back(profile.name);
  }
  return userError(unknownName("card", name, known));
}

} // namespace opsight::card
