// Where a block works, and which keys its queries see: what all mappings of attention share.
#pragma once

namespace attention {

/// Query i sees keys 0 … i + offset. Causal top-left has offset 0, bottom-right S - L, no mask "no limit".
struct triangle {
  bool limited;
  int offset;

  /// Keys that query `row` sees, of `keys`.
  __device__ __forceinline__ int count(int row, int keys) const {
    return limited ? max(0, min(row + offset + 1, keys)) : keys;
  }
};

/// Which tile a block computes. Tiles are counted from the last query backwards, so a partial one starts before query
/// 0: its missing queries then sit in the first registers, where extents drop them.
struct block_place {
  int batch, head, first_query;
};

/// Blocks are handed out lowest first. Causal tiles get heavier with the query, so all heads' last tiles come first
/// and no core is left alone with a long one; otherwise a head's tiles follow each other and share its keys in cache.
__device__ __forceinline__ block_place place_of(unsigned block, int heads_and_batches, int H, int L, int query_tile,
                                                bool heaviest_first) {
  const unsigned tiles = (L + query_tile - 1) / query_tile;
  const unsigned tile = heaviest_first ? block / heads_and_batches : block % tiles;
  const unsigned plane = heaviest_first ? block % heads_and_batches : block / tiles;
  return {int(plane / H), int(plane % H), L - int(tile + 1) * query_tile};
}

} // namespace attention
