#include "port/recipe.h"
#include "base/file.h"
#include "base/text.h"
#include "lower/lower.h"
#include "port/contains.h"
#include "port/parameters.h"
#include "port/port_file.h"
#include "port/search_order.h"
#include <algorithm>

namespace opsight::port {

namespace {

using Recipe = std::shared_ptr<const Request>;

/// Every recipe of the kernel library, in the order of their paths. A file of ours that does not read is our fault.
Result<std::vector<Recipe>> recipes() {
  std::vector<std::filesystem::path> files;
  std::error_code failed;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(dataRoot() / "kernels", failed))
    if (entry.path().extension() == ".toml")
      files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Recipe> found;
  for (const std::filesystem::path &file : files) {
    Result<Request> request = readPortFile(file);
    if (!request)
      return internalError("the kernel library's " + file.string() + " does not read: " + describe(request.error()));
    if (request->recipe)
      found.push_back(std::make_shared<const Request>(std::move(*request)));
  }
  return found;
}

std::string nameOf(const Request &recipe) { return recipe.source.stem().string(); }

/// Why `recipe` cannot keep the hints with `values` of its parameters.
std::optional<std::string> whyNot(const Request &recipe, const Request &request, const Symbols &values) {
  if (!request.mapping.empty() && request.mapping != recipe.recipe->mapping)
    return nameOf(recipe) + " is a " + recipe.recipe->mapping + " recipe, not " + request.mapping;
  for (const Hint &hint : request.hints)
    if (auto kept = recipe.recipe->keeps.find(hint.key);
        kept != recipe.recipe->keeps.end() && !contains(split(hint.value, ','), kept->second))
      return nameOf(recipe) + " keeps " + kept->first + "=" + kept->second + " and cannot keep " + hint.key + "=" +
             hint.value;
  if (std::optional<std::string> why = refused(recipe.parameters, values))
    return nameOf(recipe) + " cannot keep the hints: " + *why;
  return std::nullopt;
}

/// A recipe takes the options of the request: its macros name them.
Recipe underOptions(const Recipe &recipe, const Request &request) {
  auto made = std::make_shared<Request>(*recipe);
  made->options = request.options;
  return made;
}

} // namespace

bool shapesKernel(const Hint &hint) { return hint.key != "order"; }

SourceKernel Proposal::kernelWith(const Symbols &values) const {
  SourceKernel kernel = instance(*declared, values);
  kernel.name = name;
  kernel.proposer = proposer;
  if (lanes)
    kernel.defines["LANES"] = {{std::to_string(lanes)}, false};
  return kernel;
}

Proposal proposeSource(const Request &request, const TuningGround &ground) {
  Proposal proposal{.name = "faithful", .proposer = "faithful", .declared = std::make_shared<const Request>(request)};
  proposal.fixed = fixedBy(request.hints, request.parameters);
  proposal.first = under(standardValues(request.parameters), proposal.fixed);
  orderSearch(proposal, ground);
  return proposal;
}

Result<Proposal> proposeRecipe(const Request &request, const TuningGround &ground) {
  Result<std::vector<Recipe>> all = recipes();
  if (!all)
    return std::unexpected(all.error());
  const card::Profile &profile = ground.profile;
  const bool prefersSimt = request.mapping.empty() ? profile.mapping == card::Mapping::Simt : request.mapping == "simt";
  std::ranges::stable_partition(
      *all, [&](const Recipe &recipe) { return (recipe->recipe->mapping == "simt") == prefersSimt; });
  std::vector<std::string> reasons;
  for (const Recipe &recipe : *all) {
    if (recipe->op != request.op)
      continue;
    Proposal proposal{
        .name = "recipe/" + nameOf(*recipe), .proposer = "recipe", .declared = underOptions(recipe, request)};
    proposal.fixed = fixedBy(request.hints, recipe->parameters);
    proposal.first = under(standardValues(recipe->parameters), proposal.fixed);
    if (std::optional<std::string> why = whyNot(*recipe, request, proposal.first)) {
      reasons.push_back(*why);
      continue;
    }
    Result<unsigned> lanes = lower::nativeLanes(profile.processor.empty() ? "native" : profile.processor);
    if (!lanes)
      return std::unexpected(lanes.error());
    proposal.lanes = *lanes;
    orderSearch(proposal, ground);
    return proposal;
  }
  if (reasons.empty())
    return unsupported("no recipe for " + std::string(request.op->name()) + " yet",
                       "leave the hints out to have the source carried over as it is");
  return unsupported("no recipe keeps these hints: " + join(reasons, "; "),
                     "change what is named, or leave the hints out to have the source carried over as it is");
}

} // namespace opsight::port
