// Findings as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), for editors and code hosts: a rule a
// kind, a result a finding.
#pragma once
#include "sight/findings.h"
#include <filesystem>

namespace opsight::report {

/// Files below `root` are named relative to it.
std::string findingsSarif(std::span<const sight::Findings> launches, const std::filesystem::path &root);

} // namespace opsight::report
