// The pipeline: which passes, in which order, and why in that order.
#include "lower/warp/passes.h"
#include "lower/native/passes.h"
#include "lower/registry.h"
#include "lower/speak.h"
#include "lower/watch/calls.h"
#include <array>

namespace opsight::lower::warp {

std::span<const Pass *const> ownPasses() {
  static const Pass *const own[] = {
      &warp_width, &thread_indices, &shared_memory, &simplify, &part_structures,
      &interleave_locals, &total_division, &widen_indices, &join_rows, &share_columns,
      &mark_returns, &mark_uniform, &all_active, &structure, &drop_barriers, &vectorise, &delay_deinterleave, &suspend, &warp_range};
  return own;
}

std::span<const Pass *const> passes() {
  // Those named by text are shared with other targets.
  static const std::array order{
      findPass("keep_kernel"),         // nothing below should work on code that is not reached
      findPass("inline_all"),          // the passes below look at one function
      findPass("counted_barriers"),    // before anyone asks which barriers there are
      &watch::join_accesses,           // as the card's own compiler would access memory
      &watch::watch,                   // what the source does, before anything is added to it …
      &watch::merge_checks,            // … and while neighbours still look like it
      &speak,                          // before string literals would become parameters
      findPass("symbol_parameters"),   // variables the host may write become parameters like any other
      findPass("clamp_shifts"),        // before LLVM's own passes may exploit that wide shifts are undefined …
      findPass("saturate_casts"),      // … or that casts of large floats are
      &native::compare_nans,           // before LLVM's own passes see what they do not come to an end on
      findPass("expand_memory_calls"), // copies become loads and stores, which vectors can be made of
      &native::inline_mathematics,     // calls that vectors could not make become arithmetic that they can do
      &warp_width,                     // while volatile accesses and warp operations can still be seen
      &thread_indices, &shared_memory, // where a thread stands, and where its block's memory is
      &simplify,                       // local arrays that fit registers leave memory here …
      &part_structures,                // no vector holds them
      &interleave_locals,              // … and those that do not are laid out for vectors
      &total_division,                 // no division may trap for a thread that is not there
      &native::libm_calls,             // while intrinsics still carry the user's lines, for messages
      &native::round_halves,           // before LLVM would make calls of it that no library here answers
      &widen_indices,                  // so that no extension hides what addresses have in common
      &join_rows,                      // while loops are one thread's, and before regions get second versions
      &share_columns,                  // what join_rows has found, while barriers may still be added
      &mark_returns,                   // who returns early, before `structure` makes one return of all
      &mark_uniform,                   // the fewer branches part threads, the less `structure` has to change
      &all_active,                     // while parting branches still look like the source's
      &structure,                      // regions that vectors can follow
      &mark_uniform,                   // again: new branches, new values
      &drop_barriers,                  // by what single threads access; they stay where they are until vectors are made
      &vectorise,                      // one function over a warp
      &delay_deinterleave,             // before LLVM's own passes join permutations with what is around them
      &native::refuse_unknown,         // what nobody above translated is told by name and line
      &native::retarget,               // host triple, layout and features: LLVM's passes below go by them
      &native::estimate_roots,         // while a reciprocal root still is one
      &watch::link_publish,            // host code, for what a watched kernel calls
      &suspend,                        // barriers become states
      &warp_range,                     // the exported entry; from here on the kernel is its callee
      &native::optimise,               // LLVM's -O3 for the host
  };
  return order;
}

} // namespace opsight::lower::warp
