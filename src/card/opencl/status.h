// OpenCL's status codes as errors of ours: every call's status is looked at.
#pragma once
#define CL_TARGET_OPENCL_VERSION 300
#include "base/error.h"
#include <CL/cl.h>
#include <string>

namespace opsight::card {

/// "CL_OUT_OF_RESOURCES", or the number where it has no name here.
std::string nameOf(cl_int status);

/// An error "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES" of `kind`, unless the status is success.
Status check(cl_int status, const char *call, ErrorKind kind = ErrorKind::NoVerdict);

} // namespace opsight::card
