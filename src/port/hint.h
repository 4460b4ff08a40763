// The hints an engineer can give as KEY=VALUE, in one table; plain sentences (ask.h) end in the same hints.
#pragma once
#include "port/request.h"

namespace opsight::port {

struct HintKind {
  std::string key;
  std::string values;  // for people: "ROWSxCOLUMNS, each 1 to 1024"
  std::string meaning; // one line for --help
  /// The value in its one canonical spelling ("64X64" becomes "64x64"), or none when it is not one.
  std::optional<std::string> (*canonical)(std::string_view value);
  bool repeatable = false; // several values go together
};

const std::vector<HintKind> &hintKinds();

/// "tile=64x64" to a hint; an unknown key names the nearest, a wrong value says what is expected.
Result<Hint> parseHint(std::string_view text, SourcePlace where = {});

/// Adds `hint`, unless it is there already; a user error when it contradicts one that is (two tile sizes).
Status addHint(std::vector<Hint> &hints, Hint hint);

} // namespace opsight::port
