#include "report/markdown.h"
#include "report/account_text.h"

namespace opsight::report {

/// A cell must not break its table.
static std::string cell(const std::string &text) {
  std::string safe;
  for (char c : text) {
    if (c == '|')
      safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

static std::string tableOf(const Section &section) {
  std::string text;
  for (size_t i = 0; i < section.rows.size(); ++i) {
    text += "|";
    for (const std::string &each : section.rows[i])
      text += " " + cell(each) + " |";
    text += "\n";
    if (i)
      continue;
    // Tables of one subject a row need no headings, but Markdown wants the line.
    std::string rule = "|", empty = "|";
    for (size_t column = 0; column < section.rows[0].size(); ++column) {
      rule += "---|";
      empty += " |";
    }
    text = empty + "\n" + rule + "\n" + text;
  }
  return text;
}

std::string markdownReport(const port::Outcome &outcome, const std::string &folder) {
  std::string text = "# " + headline(outcome) + "\n\n";
  for (const Section &section : sectionsOf(outcome, folder)) {
    text += "## " + section.heading + "\n\n";
    if (section.rows[0].size() == 1)
      for (const auto &row : section.rows)
        text += "- " + row[0] + "\n";
    else
      text += tableOf(section);
    text += "\n";
  }
  return text + "## Replay\n\n    " + outcome.replay + "\n";
}

} // namespace opsight::report
