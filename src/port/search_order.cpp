#include "port/search_order.h"
#include "port/parameters.h"
#include <algorithm>
#include <unistd.h>

namespace opsight::port {

namespace {

constexpr double pastFirstCache = 1.1, pastSecondCache = 1.5;
constexpr double hopeless = 1.5; // of the model's best time: not measured
constexpr size_t mostCombinations = 4096;

int64_t cacheBytes(int name, int64_t otherwise) {
  long bytes = ::sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

/// All combinations of what is searched for each parameter that is not fixed, those that break a rule left out.
std::vector<Symbols> combinations(const Proposal &proposal, const Symbols &fixed) {
  std::vector<Symbols> all = {proposal.first};
  for (const Parameter &parameter : proposal.declared->parameters) {
    if (fixed.contains(parameter.name) || parameter.search.empty())
      continue;
    std::vector<Symbols> longer;
    for (const Symbols &values : all)
      for (int64_t value : parameter.search)
        if (longer.size() < mostCombinations)
          longer.push_back(under(values, {{parameter.name, value}}));
    all = std::move(longer);
  }
  std::erase_if(all, [&](const Symbols &values) { return refused(proposal.declared->parameters, values).has_value(); });
  return all;
}

/// Whether there is a launch, its block and dynamic shared memory within the card's; what only a launch shows is left to it.
bool fits(const Proposal &proposal, const Symbols &values, const TuningGround &ground) {
  std::optional<double> most = ground.profile.figure("shared_bytes_per_block"),
                        threads = ground.profile.figure("max_threads_per_block");
  Result<card::LaunchConfig> launch = SourceCandidate::launchOf(proposal.kernelWith(values).launch, ground.sample);
  return launch && (!most || double(launch->dynamicSharedBytes) <= *most) &&
         (!threads || double(launch->block.count()) <= *threads);
}

} // namespace

Symbols under(Symbols values, const Symbols &over) {
  for (const auto &[name, value] : over)
    values[name] = value;
  return values;
}

std::optional<double> modelled(const Request &declared, const Symbols &values, const Symbols &sample) {
  if (!declared.recipe || declared.recipe->operations.text.empty())
    return std::nullopt;
  const Symbols symbols = under(sample, values);
  Result<int64_t> operations = evaluate(declared.recipe->operations.text, symbols);
  if (!operations)
    return std::nullopt;
  double time = double(*operations);
  if (declared.recipe->workingSet.text.empty())
    return time;
  Result<int64_t> bytes = evaluate(declared.recipe->workingSet.text, symbols);
  if (bytes && *bytes > cacheBytes(_SC_LEVEL2_CACHE_SIZE, 1 << 20))
    return time * pastSecondCache;
  return bytes && *bytes > cacheBytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10) ? time * pastFirstCache : time;
}

void orderSearch(Proposal &proposal, const TuningGround &ground) {
  std::vector<Symbols> all = combinations(proposal, proposal.fixed);
  std::erase(all, proposal.first);
  const size_t possible = all.size();
  std::erase_if(all, [&](const Symbols &values) { return !fits(proposal, values, ground); });
  std::vector<std::pair<double, size_t>> ranked; // time, and the place in the lists' own order
  for (const Symbols &values : all)
    ranked.emplace_back(modelled(*proposal.declared, values, ground.sample).value_or(0), ranked.size());
  std::ranges::sort(ranked);
  for (const auto &[time, at] : ranked)
    if (time <= hopeless * ranked.front().first)
      proposal.others.push_back(all[at]);
  proposal.leftOut = possible - proposal.others.size();
}

std::vector<Symbols> besides(const Proposal &proposal, const Symbols &chosen, std::span<const std::string> parameters,
                             const TuningGround &ground) {
  Proposal freed = proposal;
  freed.first = freed.fixed = chosen;
  freed.others.clear();
  for (const std::string &name : parameters)
    freed.fixed.erase(name);
  orderSearch(freed, ground);
  return freed.others;
}

} // namespace opsight::port
