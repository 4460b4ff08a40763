// What a finished run leaves in its output folder (interface.md, "What `port` and `verify` leave").
#pragma once
#include "port/output_folder.h"
#include "port/outcome.h"

namespace opsight::report {

/// Writes verdict.json, report.md, artifact/ and candidates/, and shows them all at once.
Status writeResults(port::OutputFolder &folder, const port::Outcome &outcome);

} // namespace opsight::report
