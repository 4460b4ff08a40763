// Rows: four neighbouring elements of each thread, where the threads' own places lie apart. The warp reads or writes
// columns: a load or store a thread and a transposition in registers, in place of four gathers or scatters.
#pragma once
#include "lower/warp/emitter.h"

namespace opsight::lower::warp {

/// Whether an unmasked access of `count` elements of `bytes` bytes a thread goes by rows.
bool areRows(const Emitter &emitter, const Shape &address, unsigned count, uint64_t bytes, bool isVolatile);
/// What one thread holds, computed of scalars wherever only arithmetic is between it and what all threads agree on but
/// for a constant: the start of a thread's row then leaves the loop along it, where taking it out of a vector would
/// stay. `depth`: steps taken already.
llvm::Value *atLaneAlone(Emitter &emitter, llvm::Value *value, unsigned lane, unsigned depth = 0);
/// One vector for each of the four elements.
Emitter::Values loadRows(Emitter &emitter, llvm::Type *type, llvm::Value *pointer, llvm::Align align);
void storeRows(Emitter &emitter, llvm::ArrayRef<llvm::Value *> elements, llvm::Value *pointer, llvm::Align align);

} // namespace opsight::lower::warp
