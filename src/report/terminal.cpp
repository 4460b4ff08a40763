#include "report/terminal.h"
#include "report/account_text.h"
#include "report/width.h"

namespace opsight::report {

std::string terminalReport(const port::Outcome &outcome, const std::string &folder, const TerminalStyle &style) {
  auto painted = [&](const std::string &text, const char *code) {
    return style.color ? std::string("\x1b[") + code + "m" + text + "\x1b[0m" : text;
  };
  std::string text;
  for (const Section &section : sectionsOf(outcome, folder))
    if (!section.detail)
      text += painted(section.heading, "1") + "\n" + table(section.rows, 2, style.columns) + "\n";
  // Whole and alone on its line, so that it can be copied.
  text += painted("Replay", "1") + "\n  " + outcome.replay + "\n\n";
  return text + painted(headline(outcome), outcome.verdict.pass ? "1;32" : "1;31") + "\n";
}

} // namespace opsight::report
