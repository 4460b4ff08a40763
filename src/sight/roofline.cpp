#include "sight/roofline.h"
#include <algorithm>

namespace opsight::sight {

namespace {

std::optional<double> product(std::initializer_list<std::optional<double>> factors) {
  double all = 1;
  for (const std::optional<double> &factor : factors) {
    if (!factor)
      return std::nullopt;
    all *= *factor;
  }
  return all;
}

double longest(const Model &model) {
  double most = 0;
  for (const auto &[resource, seconds] : model.seconds)
    most = std::max(most, seconds);
  return most;
}

} // namespace

Roofline::Roofline(const card::Profile &profile) {
  const std::optional<double> sms = profile.figure("sm_count"), megahertz = profile.figure("clock_mhz");
  flops = product({profile.figure("peak_gflops_fp32"), 1e9});
  bytes = product({profile.figure("dram_gbps"), 1e9});
  wavefronts = product({sms, megahertz, 1e6, profile.figure("shared_wavefronts_per_clock")});
  instructions = product({sms, megahertz, 1e6, profile.figure("issue_per_clock")});
}

Model Roofline::model(const Load &load, double issueShare) const {
  Model model;
  auto add = [&](const char *resource, double amount, const std::optional<double> &rate) {
    if (rate)
      model.seconds[resource] = amount / *rate;
    else
      model.unknown.push_back(resource);
  };
  add("fp32", load.flops, flops);
  add("memory", load.bytes, bytes);
  add("shared memory", load.wavefronts, wavefronts);
  add("instructions", load.instructions / issueShare, instructions);
  const auto most = std::ranges::max_element(model.seconds, {}, [](const auto &each) { return each.second; });
  if (most != model.seconds.end() && most->second > 0)
    model.boundBy = most->first;
  if (flops && bytes)
    model.ridge = *flops / *bytes;
  return model;
}

std::optional<double> Roofline::cost(const Load &load, const Load &saved, double issueShare) const {
  const std::pair<double, bool> freed[] = {{saved.flops, flops.has_value()},
                                           {saved.bytes, bytes.has_value()},
                                           {saved.wavefronts, wavefronts.has_value()},
                                           {saved.instructions, instructions.has_value()}};
  if (std::ranges::none_of(freed, [](const auto &each) { return each.first != 0 && each.second; }))
    return std::nullopt;
  const double with = longest(model(load, issueShare)), without = longest(model(load - saved, issueShare));
  return with > 0 ? 1 - without / with : 0;
}

std::optional<double> Roofline::costOfFewWarps(const Load &load, double issueShare) const {
  if (!instructions)
    return std::nullopt;
  const double with = longest(model(load, issueShare)), without = longest(model(load));
  return with > 0 ? 1 - without / with : 0;
}

} // namespace opsight::sight
