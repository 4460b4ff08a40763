// The verdict as sections of labelled lines; the terminal and the Markdown report show the same ones in their own dress.
#pragma once
#include "port/outcome.h"

namespace opsight::report {

/// One section: a heading and rows of cells, all of one count.
struct Section {
  std::string heading;
  std::vector<std::vector<std::string>> rows;
  bool detail = false; // only files show it
};

/// "FAIL: error, slow" or "PASS".
std::string headline(const port::Outcome &outcome);
std::vector<Section> sectionsOf(const port::Outcome &outcome, const std::string &folder);

/// 2.9e-07 as people write it: "2.9e-7"; "NaN or infinity" for what is not finite.
std::string errorText(double value);

} // namespace opsight::report
