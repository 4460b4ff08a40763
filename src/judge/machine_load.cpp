#include "judge/machine_load.h"
#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

namespace opsight::judge {

constexpr double leastSeconds = 0.2; // the kernel counts in hundredths

std::optional<ProcessorTimes> ProcessorTimes::parse(const std::string &stat) {
  std::istringstream in(stat);
  std::string name;
  std::array<double, 8> ticks{}; // user, nice, system, idle, iowait, irq, softirq, steal
  in >> name;
  for (double &value : ticks)
    in >> value;
  if (!in || name != "cpu")
    return std::nullopt;
  double all = 0;
  for (double value : ticks)
    all += value;
  const double second = double(::sysconf(_SC_CLK_TCK));
  return ProcessorTimes{(all - ticks[3] - ticks[4]) / second, all / second};
}

MachineLoad::MachineLoad(const card::Session &session) : session_(session), start_(sample()) {}

std::optional<MachineLoad::Sample> MachineLoad::sample() const {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  auto machine = ProcessorTimes::parse(line);
  auto worker = session_.processorSeconds();
  rusage own{};
  if (!machine || !worker || ::getrusage(RUSAGE_SELF, &own) != 0)
    return std::nullopt;
  auto seconds = [](const timeval &time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; };
  return Sample{*machine, *worker + seconds(own.ru_utime) + seconds(own.ru_stime)};
}

std::optional<double> MachineLoad::othersShare() const {
  auto now = sample();
  if (!start_ || !now || now->machine.all - start_->machine.all < leastSeconds)
    return std::nullopt;
  double others = (now->machine.busy - start_->machine.busy) - (now->own - start_->own);
  return std::clamp(others / (now->machine.all - start_->machine.all), 0.0, 1.0);
}

} // namespace opsight::judge
