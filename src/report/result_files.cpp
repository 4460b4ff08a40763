#include "report/result_files.h"
#include "port/artifact_files.h"
#include "report/markdown.h"
#include "report/verdict_json.h"

namespace opsight::report {

Status writeResults(port::OutputFolder &folder, const port::Outcome &outcome) {
  std::vector<port::FileText> files;
  for (const port::FileText &file : outcome.artifact)
    files.push_back({"artifact/" + file.name, file.bytes});
  for (const port::CandidateResult &candidate : outcome.candidates) {
    std::string under = "candidates/" + port::folderOf(candidate) + "/";
    for (const port::FileText &file : candidate.files)
      files.push_back({under + file.name, file.bytes});
    files.push_back({under + "verdict.json", candidateJson(outcome, candidate)});
  }
  if (!outcome.figures.empty())
    files.push_back({"figures.toml", outcome.figures});
  files.push_back({"report.md", markdownReport(outcome, folder.path().string())});
  files.push_back({"verdict.json", verdictJson(outcome)});
  for (const port::FileText &file : files)
    if (Status written = folder.write(file.name, file.bytes); !written)
      return written;
  return folder.commit();
}

} // namespace opsight::report
