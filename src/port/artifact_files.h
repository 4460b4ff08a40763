// The files that a finished port leaves: the winner's artifact with a manifest that says how to launch it (and, where the
// code is native, a C header for programs that link it), and for each candidate what it was made of.
#pragma once
#include "port/outcome.h"
#include "port/source_candidate.h"

namespace opsight::port {

/// artifact/: code, disassembly, manifest.json, and a C header for native code, of the build for one case; under builds/
/// the other builds that were judged, one for each set of macro values.
std::vector<FileText> artifactFiles(const judge::Build &build, const SourceCandidate &candidate, const Symbols &symbols);

/// candidates/NAME/: source, IR and a port file that replays it alone.
std::vector<FileText> candidateFiles(SourceCandidate &candidate, const Request &request, const ops::Case &sample);

/// The port file of `kernel` under the request's demands; `source` is written as it is.
std::string portFileText(const SourceKernel &kernel, const Request &request, const std::string &source);

/// A folder's name for a candidate: "recipe-flash_simd-64x64-4".
std::string folderOf(const CandidateResult &candidate);

/// `text` as one word of a shell's command line.
std::string shellQuoted(const std::string &text);

} // namespace opsight::port
