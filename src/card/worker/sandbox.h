// What code in the worker may ask of the system. Filters belong to a thread, are inherited by the threads it starts
// and cannot be taken off; they need no privileges and no user namespaces.
#pragma once
#include "base/error.h"

namespace opsight::card {

/// For threads that run native kernels: wait for work, end, nothing else. Any other call ends the launch as Sandbox.
Status confineKernelThread();
/// For the thread that loads native code (whose constructors are the candidate's, too) and runs the vendor's library:
/// map memory, read files, start threads, talk to the tool.
Status confineLoader();
/// For a process with an OpenCL driver, which compiles and spawns linkers: no network, no tracing, mounting or
/// signalling of other processes.
Status confineOpenClDriver();

} // namespace opsight::card
