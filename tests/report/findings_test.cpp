// Findings as JSON, SARIF and text: their shape is a contract that scripts and editors rely on.
#include "report/findings_json.h"
#include "report/findings_text.h"
#include "report/sarif.h"
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace opsight::report {
namespace {
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

sight::Findings turned() {
  sight::Findings of;
  of.kernel = "tile_column", of.card = "a100", of.caseName = "n=32";
  of.occupancy = sight::Occupancy{92, "ptxas", 0, 0, 4224, 2, 14, 21.875, "registers"};
  of.accesses = {{{"t.cu", 9, 3}, card::Space::Global, card::Site::Kind::Load, "in", 32, 1024, 4096, 0, 0, 128, 128},
                 {{"t.cu", 12, 3}, card::Space::Shared, card::Site::Kind::Load, "tile", 32, 1024, 4096, 1024, 32}};
  of.work = {{{"t.cu", 9, 3}, 320, 0.5, 64, 1, 2, 3, 4, 5, 6}};
  of.totals = {64, 4096, 4096, 4096, 0.015625, 0.5};
  of.model = {{{"memory", 1e-6}, {"shared memory", 2e-6}}, {"fp32"}, "shared memory", 12.5};
  of.findings.resize(3);
  of.findings[0] = {.kind = "race",
                    .where = {"/elsewhere/a b.cuh", 30, 7},
                    .what = "two write",
                    .evidence = {},
                    .said = {{"block", "0,0,0"}},
                    .cost = 1,
                    .why = "why",
                    .change = "wait",
                    .isFault = true};
  of.findings[1] = {.kind = "bank_conflict",
                    .where = {"t.cu", 12, 3},
                    .what = "1,024 loads",
                    .evidence = {{"wavefronts", 1024}, {"ideal", 32}},
                    .cost = 0.4,
                    .why = "one bank",
                    .change = "pad the row to 33 floats",
                    .hint = "pad=1"};
  of.findings[2] = {
      .kind = "odd_kind", .where = {"t.cu", 0, 0}, .what = "?", .why = "", .change = "", .isCostKnown = false};
  of.notes = {"a note"};
  return of;
}

json parsed(const std::vector<sight::Findings> &launches) { return json::parse(findingsJson(launches)); }

TEST(FindingsJson, HasTheFieldsOfTheContract) {
  json found = parsed({turned()});
  EXPECT_EQ(found["schema"], "opsight.findings/1");
  EXPECT_EQ(found["kernel"], "tile_column");
  EXPECT_EQ(found["card"], "a100");
  EXPECT_EQ(found["case"], "n=32");
  json occupancy = {{"registers", 92},          {"registers_source", "ptxas"}, {"shared_bytes", 4224},
                    {"blocks_per_sm", 2},       {"warps_per_sm", 14},          {"percent", 21.875},
                    {"limited_by", "registers"}};
  for (const auto &[key, value] : occupancy.items())
    EXPECT_EQ(found["occupancy"][key], value) << key;
  json shared = {{"file", "t.cu"}, {"line", 12},         {"space", "shared"},     {"op", "load"},
                 {"requests", 32}, {"wavefronts", 1024}, {"ideal_wavefronts", 32}};
  for (const auto &[key, value] : shared.items())
    EXPECT_EQ(found["lines"][1][key], value) << key;
  json global = {{"file", "t.cu"}, {"line", 9},      {"space", "global"},    {"op", "load"},
                 {"requests", 32}, {"sectors", 128}, {"ideal_sectors", 128}, {"bytes", 4096}};
  for (const auto &[key, value] : global.items())
    EXPECT_EQ(found["lines"][0][key], value) << key;
  EXPECT_FALSE(found["lines"][0].contains("wavefronts"));
  for (const char *key : {"flops", "global_bytes", "shared_bytes", "intensity", "lanes_active"})
    EXPECT_TRUE(found["totals"][key].is_number()) << key;
  json finding = {{"kind", "bank_conflict"},
                  {"file", "t.cu"},
                  {"line", 12},
                  {"what", "1,024 loads"},
                  {"cost", 0.4},
                  {"why", "one bank"},
                  {"change", "pad the row to 33 floats"},
                  {"hint", "pad=1"},
                  {"evidence", {{"wavefronts", 1024.0}, {"ideal", 32.0}}}};
  for (const auto &[key, value] : finding.items())
    EXPECT_EQ(found["findings"][1][key], value) << key;
  EXPECT_EQ(found["findings"][0]["evidence"]["block"], "0,0,0");
  EXPECT_FALSE(found["findings"][0].contains("hint"));
}

TEST(FindingsJson, WhatIsUnknownIsNull) {
  sight::Findings of = turned();
  of.occupancy->registers.reset();
  of.model.ridge.reset();
  json found = parsed({of});
  EXPECT_TRUE(found["occupancy"]["registers"].is_null());
  EXPECT_TRUE(found["findings"][2]["cost"].is_null());
  EXPECT_TRUE(found["model"]["ridge"].is_null());
  of.occupancy.reset();
  EXPECT_TRUE(parsed({of})["occupancy"].is_null());
}

TEST(FindingsJson, FurtherLaunchesFollowTheFirst) {
  sight::Findings second = turned();
  second.kernel = "second";
  EXPECT_FALSE(parsed({turned()}).contains("then"));
  EXPECT_EQ(parsed({turned(), second})["then"][0]["kernel"], "second");
}

json sarif(const std::vector<sight::Findings> &launches) {
  return json::parse(findingsSarif(launches, "/work/project"));
}

TEST(Sarif, HasWhatTheStandardRequires) {
  json log = sarif({turned(), turned()});
  EXPECT_EQ(log["version"], "2.1.0");
  EXPECT_THAT(log["$schema"].get<std::string>(), HasSubstr("sarif-2.1.0"));
  ASSERT_EQ(log["runs"].size(), 1u);
  const json &run = log["runs"][0], &driver = run["tool"]["driver"];
  EXPECT_EQ(driver["name"], "opsight");
  ASSERT_EQ(driver["rules"].size(), 3u); // each kind once
  ASSERT_EQ(run["results"].size(), 6u);
  for (const json &rule : driver["rules"]) {
    EXPECT_TRUE(rule["id"].is_string());
    EXPECT_FALSE(rule["shortDescription"]["text"].get<std::string>().empty());
  }
  for (const json &result : run["results"]) {
    EXPECT_EQ(driver["rules"][result["ruleIndex"].get<size_t>()]["id"], result["ruleId"]);
    EXPECT_FALSE(result["message"]["text"].get<std::string>().empty());
    ASSERT_EQ(result["locations"].size(), 1u);
    const json &place = result["locations"][0]["physicalLocation"];
    EXPECT_TRUE(place["artifactLocation"]["uri"].is_string());
    EXPECT_GE(place["region"]["startLine"].get<int>(), 1);
    EXPECT_TRUE(result["properties"]["evidence"].is_object());
  }
}

TEST(Sarif, FaultsAreErrorsCostsWarningsAndTheRestNotes) {
  const json results = sarif({turned()})["runs"][0]["results"];
  EXPECT_EQ(results[0]["level"], "error");
  EXPECT_EQ(results[1]["level"], "warning");
  EXPECT_EQ(results[2]["level"], "note");
  EXPECT_EQ(results[1]["properties"]["cost"], 0.4);
  EXPECT_EQ(results[1]["properties"]["hint"], "pad=1");
}

TEST(Sarif, FilesBelowTheRootAreRelativeToIt) {
  sight::Findings of = turned();
  of.findings[1].where.file = "/work/project/src/t 1.cu";
  const json results = sarif({of})["runs"][0]["results"];
  auto artifact = [&](int i) { return results[i]["locations"][0]["physicalLocation"]["artifactLocation"]; };
  EXPECT_EQ(artifact(0)["uri"], "file:///elsewhere/a%20b.cuh");
  EXPECT_FALSE(artifact(0).contains("uriBaseId"));
  EXPECT_EQ(artifact(1)["uri"], "src/t%201.cu");
  EXPECT_EQ(artifact(1)["uriBaseId"], "%SRCROOT%");
  EXPECT_EQ(artifact(2)["uri"], "t.cu");
}

TEST(Sarif, NothingFoundIsAnEmptyRun) {
  sight::Findings of = turned();
  of.findings.clear();
  json log = sarif({of});
  EXPECT_TRUE(log["runs"][0]["results"].empty());
  EXPECT_TRUE(log["runs"][0]["results"].is_array());
}

TEST(FindingsText, ShowsThePlaceOnTheCardTheFindingsAndTheLines) {
  std::string text = findingsText(std::vector{turned()}, {});
  for (const char *words :
       {"92 registers a thread (ptxas)", "14 warps in 2 blocks on an SM, limited by registers", "100 % shared memory",
        "the card's arithmetic wants 12.5", "race  a b.cuh:30  fault", "bank_conflict  t.cu:12  saves up to 40 %",
        "pad=1", "odd_kind  (merged)  cost unknown", "global load in", "32.0 times ideal", "16.0 of 32", "a note"})
    EXPECT_THAT(text, HasSubstr(words));
  EXPECT_THAT(text, Not(HasSubstr("\x1b[")));
  EXPECT_THAT(findingsText(std::vector{turned()}, {true, 100}), HasSubstr("\x1b[1;31mrace"));
}

TEST(FindingsText, ALineTakesNoMoreThanTheTerminal) {
  std::string text = findingsText(std::vector{turned()}, {false, 100}), line;
  for (std::istringstream lines(text); std::getline(lines, line);)
    EXPECT_LE(size_t(std::ranges::count_if(line, [](unsigned char c) { return (c & 0xC0) != 0x80; })), 100u) << line;
}

TEST(Bars, FillByTheirShare) {
  EXPECT_EQ(bar(0, 4), "░░░░");
  EXPECT_EQ(bar(0.001, 4), "█░░░");
  EXPECT_EQ(bar(0.5, 4), "██░░");
  EXPECT_EQ(bar(7, 4), "████");
  EXPECT_EQ(bar(std::nan(""), 4), "░░░░");
}

} // namespace
} // namespace opsight::report
