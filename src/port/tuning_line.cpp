#include "port/tuning_line.h"
#include "base/text.h"
#include <charconv>

namespace opsight::port {

std::string valuesText(const Symbols &values) {
  std::vector<std::string> parts;
  for (const auto &[name, value] : values)
    parts.push_back(name + "=" + std::to_string(value));
  return join(parts, " ");
}

Symbols valuesFrom(std::string_view text) {
  Symbols values;
  for (const std::string &part : split(std::string(text), ' ')) {
    size_t equals = part.find('=');
    int64_t value = 0;
    if (equals == part.npos ||
        std::from_chars(part.data() + equals + 1, part.data() + part.size(), value).ec != std::errc())
      break;
    values[part.substr(0, equals)] = value;
  }
  return values;
}

TrialLine TrialLine::of(const std::string &candidate, const Symbols &values, const judge::Verdict &verdict) {
  TrialLine line{candidate, values, verdict.accuracy.pass, verdict.accuracy.maxError};
  if (verdict.speed && verdict.speed->notMeasured.empty()) {
    const judge::Speed &speed = *verdict.speed;
    line.ratio = speed.ratio, line.low = speed.low, line.high = speed.high;
    line.gflops = speed.gflops, line.fractionOfPeak = speed.fractionOfPeak;
  }
  return line;
}

} // namespace opsight::port
