// Standard output is the result, standard error everything else; colours only where they are wanted.
#pragma once
#include "base/error.h"
#include "port/plan.h"
#include <string>

namespace opsight::cli {

enum class Color { Auto, Always, Never };

/// Whether to colour what goes to file descriptor `fd`. NO_COLOR and TERM=dumb are heard under Auto.
bool colored(Color color, int fd);
size_t columnsOf(int fd);

/// "error: …" on standard error; returns the exit code of the error.
int complain(const Error &error, Color color);

/// Shows the plan on standard error: a live line on a terminal, plain lines elsewhere, nothing when quiet.
port::Listener progressListener(bool quiet, Color color);

} // namespace opsight::cli
