#include "report/catalogue.h"
#include "base/text.h"
#include "report/account_text.h"
#include "report/width.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace opsight::report {

using Json = nlohmann::ordered_json;

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string mappingText(card::Mapping mapping) { return mapping == card::Mapping::Simd ? "simd" : "simt"; }

void addDevice(Rows &rows, const CardEntry &entry) {
  if (!entry.device) {
    rows.push_back({"device", "none: " + entry.absent});
    return;
  }
  const card::DeviceInfo &device = *entry.device;
  rows.push_back({"device", fmt::format("{}, {} compute units", device.device, device.computeUnits)});
  rows.push_back({"driver", device.driver});
  if (entry.peak)
    rows.push_back({"peak", fmt::format("{:.0f} GFLOP/s fp32, {:.0f} GB/s read (measured now)", entry.peak->gflopsFp32,
                                        entry.peak->readGbps)});
  if (!device.unconfined.empty())
    rows.push_back({"warning", device.unconfined});
}

std::string factor(const std::vector<std::string> &shape) { return "(" + join(shape, ", ") + ")"; }

std::string proofText(const port::Proof &proof) {
  std::string counts = fmt::format("{} PASS, {} FAIL recorded here", proof.passes, proof.fails);
  if (!proof.passes)
    return counts;
  std::string text = fmt::format("{}: {} cases right, error {}", proof.candidate, proof.cases, errorText(proof.maxError));
  if (proof.ratio)
    text += fmt::format(", {:.2f} times {}", *proof.ratio, proof.reference);
  if (!proof.options.empty())
    text += ", " + proof.options;
  return text + " (" + proof.day + ", " + proof.device + "; " + counts + ")";
}

Json proofJson(const port::Proof &proof) {
  Json json = {{"card", proof.card}, {"passes", proof.passes}, {"fails", proof.fails}, {"last_pass", nullptr}};
  if (proof.passes)
    json["last_pass"] = {{"day", proof.day}, {"device", proof.device}, {"candidate", proof.candidate},
                         {"options", proof.options}, {"cases", proof.cases}, {"max_error", proof.maxError},
                         {"ratio", proof.ratio ? Json(*proof.ratio) : Json(nullptr)}, {"reference", proof.reference}};
  return json;
}

Json tensorJson(const ops::TensorInfo &tensor) {
  return {{"name", tensor.name},
          {"shape", tensor.shape},
          {"role", tensor.role == ops::TensorInfo::Role::Input ? "input" : "output"},
          {"optional", tensor.optional},
          {"spellings", tensor.spellings}};
}

} // namespace

std::string cardsText(const std::vector<CardEntry> &entries, size_t columns) {
  std::string text;
  for (const CardEntry &entry : entries) {
    const card::Profile &profile = entry.profile;
    text += profile.name + ": " + profile.description + "\n";
    Rows rows;
    addDevice(rows, entry);
    rows.push_back({"ir", fmt::format("{}, mapping {}, warp width {}", profile.ir, mappingText(profile.mapping), profile.warpWidth)});
    for (const std::string &limit : profile.cannot)
      rows.push_back({"cannot", limit});
    for (const card::Figure &figure : profile.figures)
      rows.push_back({figure.key, fmt::format("{} {} ({})", figure.value, figure.unit, figure.source)});
    text += table(rows, 2, columns) + "\n";
  }
  return text;
}

std::string cardsJson(const std::vector<CardEntry> &entries) {
  Json all = Json::array();
  for (const CardEntry &entry : entries) {
    const card::Profile &profile = entry.profile;
    Json json = {{"name", profile.name}, {"description", profile.description}, {"ir", profile.ir},
                 {"mapping", mappingText(profile.mapping)}, {"warp_width", profile.warpWidth}, {"cannot", profile.cannot}};
    json["device"] = nullptr;
    if (entry.device)
      json["device"] = {{"device", entry.device->device}, {"driver", entry.device->driver},
                        {"compute_units", entry.device->computeUnits}, {"has_double", entry.device->hasDouble},
                        {"has_half", entry.device->hasHalf}, {"subgroup_widths", entry.device->subgroupWidths},
                        {"takes_il", entry.device->takesIl}, {"shared_bytes", entry.device->sharedBytes},
                        {"max_threads_per_block", entry.device->maxThreadsPerBlock}};
    else
      json["absent"] = entry.absent;
    if (entry.peak)
      json["peak"] = {{"gflops_fp32", entry.peak->gflopsFp32}, {"read_gbps", entry.peak->readGbps}};
    json["figures"] = Json::array();
    for (const card::Figure &figure : profile.figures)
      json["figures"].push_back({{"key", figure.key}, {"value", figure.value}, {"unit", figure.unit}, {"source", figure.source}});
    all.push_back(std::move(json));
  }
  return Json{{"schema", "opsight.cards/1"}, {"cards", all}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string operatorsText(const std::vector<OperatorEntry> &entries, size_t columns) {
  std::string text;
  for (const auto &[op, proofs] : entries) {
    text += fmt::format("{}: {}\n", op->name(), op->summary());
    Rows rows;
    for (const std::string &symbol : op->symbols())
      rows.push_back({"symbol " + symbol, op->symbolHelp(symbol)});
    for (const ops::TensorInfo &tensor : op->tensors())
      rows.push_back({"tensor " + tensor.name,
                      factor(tensor.shape) + (tensor.role == ops::TensorInfo::Role::Output ? ", output" : "") +
                          (tensor.optional ? ", optional" : "")});
    for (const ops::OptionInfo &option : op->options())
      rows.push_back({"option " + option.name, join(option.values, " | ") + ": " + option.help});
    ops::Options defaults;
    for (const ops::OptionInfo &option : op->options())
      defaults[option.name] = option.values.front();
    rows.push_back({"cases", fmt::format("{} of its own under the default options", op->cases(defaults).size())});
    for (const port::Proof &proof : proofs)
      rows.push_back({"proved on " + proof.card, proofText(proof)});
    if (proofs.empty())
      rows.push_back({"proved on", "no card yet: no verdict is recorded on this machine"});
    text += table(rows, 2, columns) + "\n";
  }
  return text;
}

std::string operatorsJson(const std::vector<OperatorEntry> &entries) {
  Json all = Json::array();
  for (const auto &[op, proofs] : entries) {
    Json json = {{"name", op->name()}, {"summary", op->summary()}};
    json["symbols"] = Json::object();
    for (const std::string &symbol : op->symbols())
      json["symbols"][symbol] = op->symbolHelp(symbol);
    json["tensors"] = Json::array();
    for (const ops::TensorInfo &tensor : op->tensors())
      json["tensors"].push_back(tensorJson(tensor));
    json["options"] = Json::object();
    for (const ops::OptionInfo &option : op->options())
      json["options"][option.name] = {{"values", option.values}, {"help", option.help}};
    json["proved"] = Json::array();
    for (const port::Proof &proof : proofs)
      json["proved"].push_back(proofJson(proof));
    all.push_back(std::move(json));
  }
  return Json{{"schema", "opsight.operators/1"}, {"operators", all}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace opsight::report
