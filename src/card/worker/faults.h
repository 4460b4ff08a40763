// Last words: handlers for fatal signals write what happened to the fault page, which the tool reads, and end the
// process. They run on a stack of their own and call nothing that allocates or locks.
#pragma once
#include "card/wire.h"

namespace opsight::card {

/// Maps the fault page, installs the handlers and gives the calling thread its signal stack.
bool installFaultHandlers();
/// Gives the calling thread a signal stack and remembers where its own stack lies, to name stack overflows.
void prepareThreadForFaults();
volatile wire::FaultPage &faultPage();

} // namespace opsight::card
