// The plan of a port as its tasks run: events for whoever shows them, and a journal that tells afterwards what was done.
#pragma once
#include "base/error.h"
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace opsight::port {

enum class Task { Read, See, Translate, Verify, Improve, Report };
inline constexpr Task allTasks[] = {Task::Read, Task::See, Task::Translate, Task::Verify, Task::Improve, Task::Report};
std::string_view nameOf(Task task);

struct Event {
  enum class Kind { Started, Progress, Note, Done, Failed } kind = Kind::Note;
  Task task = Task::Read;
  std::string text;
  double fraction = 0; // Progress: 0 … 1
};
using Listener = std::function<void(const Event &)>;

/// Publishes events, and writes all but progress as one JSON line each to `journal` (none: keeps no journal).
class Plan {
public:
  Plan(Listener listener, std::filesystem::path journal);
  void start(Task task, std::string text);
  void progress(std::string text, double fraction);
  void note(std::string text);
  void done(std::string text);
  void failed(const Error &error);

private:
  void publish(Event event);
  Listener listener;
  std::filesystem::path journal;
  Task current = Task::Read;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

} // namespace opsight::port
