// A declaration written back as the part of a port file that it came from, with paths that hold from anywhere.
#pragma once
#include "port/request.h"

namespace opsight::port {

/// [symbols], [buffers] and [reference] of `request`, which has a declaration.
std::string declarationText(const Request &request);

} // namespace opsight::port
