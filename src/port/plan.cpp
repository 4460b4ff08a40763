#include "port/plan.h"
#include <fstream>
#include <nlohmann/json.hpp>

namespace opsight::port {

std::string_view nameOf(Task task) {
  static constexpr std::string_view names[] = {"read", "see", "translate", "verify", "improve", "report"};
  return names[static_cast<size_t>(task)];
}

Plan::Plan(Listener listener, std::filesystem::path journal) : listener(std::move(listener)), journal(std::move(journal)) {
  if (!this->journal.empty())
    std::ofstream(this->journal, std::ios::trunc);
}

void Plan::start(Task task, std::string text) {
  current = task;
  publish({Event::Kind::Started, task, std::move(text), 0});
}
void Plan::progress(std::string text, double fraction) {
  publish({Event::Kind::Progress, current, std::move(text), fraction});
}
void Plan::note(std::string text) { publish({Event::Kind::Note, current, std::move(text), 0}); }
void Plan::done(std::string text) { publish({Event::Kind::Done, current, std::move(text), 1}); }
void Plan::failed(const Error &error) { publish({Event::Kind::Failed, current, error.what, 1}); }

void Plan::publish(Event event) {
  if (listener)
    listener(event);
  if (journal.empty() || event.kind == Event::Kind::Progress)
    return;
  static constexpr std::string_view kinds[] = {"started", "progress", "note", "done", "failed"};
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  nlohmann::ordered_json line = {{"seconds", std::round(elapsed.count() * 1000) / 1000},
                                 {"task", nameOf(event.task)},
                                 {"event", kinds[static_cast<size_t>(event.kind)]},
                                 {"text", event.text}};
  // A journal that can no longer be written must not end a port that can still finish.
  std::ofstream(journal, std::ios::app) << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

} // namespace opsight::port
