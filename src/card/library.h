// The vendor's functions that the worker offers as references for speed, under Format::Library: their names and the
// parameters they take. Everything is contiguous, float, in device memory.
#pragma once
#include "card/artifact.h"

namespace opsight::card {

/// oneDNN, built from its primitives: softmax(scale * query key^T) value.
/// query (B,H,L,D), key (B,Hkv,S,D), value (B,Hkv,S,Dv), output (B,H,L,Dv); B, H, Hkv, L, S, D, Dv as int64; causal as
/// int32 (0 none, 1 top-left, 2 bottom-right); scale as float. A row that sees no key gives 0. Launched with one block
/// of one thread: the library spreads the work over the cores itself.
inline constexpr const char *oneDnnAttention = "onednn/scaled_dot_product_attention";

/// The artifact that names `function`; manifest.notes holds the library's version and how it is used.
Artifact oneDnnAttentionArtifact();

} // namespace opsight::card
