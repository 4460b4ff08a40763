// The kernel again with other types: what passes share that replace a type everywhere it is mentioned.
#pragma once
#include "lower/pass.h"
#include <llvm/ADT/DenseMap.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

namespace opsight::lower::spirv {

/// Maps arrays, vectors and structures by what they are made of; a pass says what becomes of scalars and pointers.
class TypeMapper : public llvm::ValueMapTypeRemapper {
public:
  llvm::Type *remapType(llvm::Type *type) override;
  bool changes(llvm::Type *type) { return remapType(type) != type; }

protected:
  virtual llvm::Type *mapScalar(llvm::Type *type) = 0;

private:
  llvm::Type *map(llvm::Type *type);
  llvm::Type *mapStruct(llvm::StructType *structure);
  llvm::DenseMap<llvm::Type *, llvm::Type *> known;
};

/// Replaces the kernel, and the shared variables whose type changes, by copies in which every type is mapped.
/// `constants` makes the constants of types that change, where the module has such. Calls must not change.
void mapTypes(Context &context, TypeMapper &mapper, llvm::ValueMaterializer *constants = nullptr);

} // namespace opsight::lower::spirv
