#include "cli/screen.h"
#include "base/text.h"
#include "report/width.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace opsight::cli {

bool colored(Color color, int fd) {
  if (color != Color::Auto)
    return color == Color::Always;
  const char *term = std::getenv("TERM"), *off = std::getenv("NO_COLOR");
  return ::isatty(fd) && !(off && *off) && term && std::string_view(term) != "dumb";
}

size_t columnsOf(int fd) {
  winsize size{};
  bool known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40;
  return known ? size.ws_col : 100;
}

/// What was not understood may be a megabyte on one line; its beginning tells as much.
static std::string withShortLines(std::string_view text) {
  constexpr size_t most = 2000;
  std::string shown;
  for (const std::string &line : split(text, '\n')) {
    size_t end = std::min(line.size(), most);
    while (end < line.size() && (line[end] & 0xC0) == 0x80)
      --end; // not within a character
    shown += (shown.empty() ? "" : "\n") + line.substr(0, end);
    if (end < line.size())
      shown += fmt::format(" … ({} more bytes)", line.size() - end);
  }
  return shown;
}

int complain(const Error &error, Color color) {
  bool paint = colored(color, STDERR_FILENO);
  std::string text = withShortLines(describe(error));
  fmt::print(stderr, "{}error:{} {}\n", paint ? "\x1b[1;31m" : "", paint ? "\x1b[0m" : "", text);
  return exitCode(error.kind);
}

namespace {

/// One line that is written over while a task goes on, and left standing when it is done.
class LiveLine {
public:
  explicit LiveLine(bool paint) : paint(paint) {}
  void show(const port::Event &event) {
    using Kind = port::Event::Kind;
    std::string task(nameOf(event.task));
    if (event.kind == Kind::Progress) {
      auto now = std::chrono::steady_clock::now();
      if (now - last < std::chrono::milliseconds(80))
        return;
      last = now;
      overwrite(fmt::format("  {:10}{:3.0f} % {}", task, event.fraction * 100, event.text));
    } else if (event.kind == Kind::Started) {
      overwrite(fmt::format("  {:10}{}", task, event.text));
    } else if (event.kind == Kind::Note) {
      finish(fmt::format("  {:10}{}", task, event.text));
    } else {
      bool done = event.kind == Kind::Done;
      const char *sign = done ? "✓" : "✗", *code = done ? "\x1b[32m" : "\x1b[31m";
      finish(fmt::format("{}{}{} {:10}{}", paint ? code : "", sign, paint ? "\x1b[0m" : "", task, event.text));
    }
  }

private:
  void overwrite(const std::string &line) {
    std::vector<std::string> lines = report::wrapped(line, columnsOf(STDERR_FILENO) - 1);
    fmt::print(stderr, "\r\x1b[K{}", lines.front());
    std::fflush(stderr);
  }
  void finish(const std::string &line) { fmt::print(stderr, "\r\x1b[K{}\n", withShortLines(line)); }
  bool paint;
  std::chrono::steady_clock::time_point last{};
};

void plainLine(const port::Event &event) {
  if (event.kind == port::Event::Kind::Progress)
    return;
  static constexpr const char *words[] = {"", "", "", "done: ", "failed: "};
  fmt::print(stderr, "{}: {}{}\n", nameOf(event.task), words[static_cast<size_t>(event.kind)],
             withShortLines(event.text));
}

} // namespace

port::Listener progressListener(bool quiet, Color color) {
  if (quiet)
    return [](const port::Event &) {};
  if (!::isatty(STDERR_FILENO))
    return plainLine;
  auto live = std::make_shared<LiveLine>(colored(color, STDERR_FILENO));
  return [live](const port::Event &event) { live->show(event); };
}

} // namespace opsight::cli
