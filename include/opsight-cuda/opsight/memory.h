// Atomics, fences, cached loads and clocks. Atomics are relaxed, as CUDA's are; the scopes (_block, _system) all mean the
// widest one.
#pragma once
#include "opsight/attributes.h"
#include "opsight/vector_types.h"

OPSIGHT_DEVICE void __threadfence() { __scoped_atomic_thread_fence(__ATOMIC_SEQ_CST, __MEMORY_SCOPE_DEVICE); }
OPSIGHT_DEVICE void __threadfence_block() { __scoped_atomic_thread_fence(__ATOMIC_SEQ_CST, __MEMORY_SCOPE_WRKGRP); }
OPSIGHT_DEVICE void __threadfence_system() { __scoped_atomic_thread_fence(__ATOMIC_SEQ_CST, __MEMORY_SCOPE_SYSTEM); }

#define OPSIGHT_ATOMIC(NAME, TYPE, EXPRESSION)                                                                         \
  OPSIGHT_DEVICE TYPE NAME(TYPE *p, TYPE v) { return EXPRESSION; }                                                     \
  OPSIGHT_DEVICE TYPE NAME##_block(TYPE *p, TYPE v) { return EXPRESSION; }                                             \
  OPSIGHT_DEVICE TYPE NAME##_system(TYPE *p, TYPE v) { return EXPRESSION; }
#define OPSIGHT_FETCH(OPERATION) __scoped_atomic_fetch_##OPERATION(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define OPSIGHT_EXCHANGE __scoped_atomic_exchange_n(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define OPSIGHT_ATOMICS(TYPE)                                                                                          \
  OPSIGHT_ATOMIC(atomicAdd, TYPE, OPSIGHT_FETCH(add))                                                                  \
  OPSIGHT_ATOMIC(atomicSub, TYPE, OPSIGHT_FETCH(sub))                                                                  \
  OPSIGHT_ATOMIC(atomicMin, TYPE, OPSIGHT_FETCH(min))                                                                  \
  OPSIGHT_ATOMIC(atomicMax, TYPE, OPSIGHT_FETCH(max))                                                                  \
  OPSIGHT_ATOMIC(atomicAnd, TYPE, OPSIGHT_FETCH(and))                                                                  \
  OPSIGHT_ATOMIC(atomicOr, TYPE, OPSIGHT_FETCH(or))                                                                    \
  OPSIGHT_ATOMIC(atomicXor, TYPE, OPSIGHT_FETCH(xor))                                                                  \
  OPSIGHT_ATOMIC(atomicExch, TYPE, OPSIGHT_EXCHANGE)                                                                   \
  OPSIGHT_CAS(atomicCAS, TYPE)                                                                                         \
  OPSIGHT_CAS(atomicCAS_block, TYPE)                                                                                   \
  OPSIGHT_CAS(atomicCAS_system, TYPE)
#define OPSIGHT_CAS(NAME, TYPE)                                                                                        \
  OPSIGHT_DEVICE TYPE NAME(TYPE *p, TYPE expected, TYPE desired) {                                                     \
    __scoped_atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED,               \
                                       __MEMORY_SCOPE_DEVICE);                                                         \
    return expected;                                                                                                   \
  }
OPSIGHT_ATOMICS(int)
OPSIGHT_ATOMICS(unsigned int)
OPSIGHT_ATOMICS(unsigned long long)
OPSIGHT_ATOMIC(atomicMin, long long, OPSIGHT_FETCH(min))
OPSIGHT_ATOMIC(atomicMax, long long, OPSIGHT_FETCH(max))
OPSIGHT_ATOMIC(atomicAnd, long long, OPSIGHT_FETCH(and))
OPSIGHT_ATOMIC(atomicOr, long long, OPSIGHT_FETCH(or))
OPSIGHT_ATOMIC(atomicXor, long long, OPSIGHT_FETCH(xor))
OPSIGHT_ATOMIC(atomicAdd, float, OPSIGHT_FETCH(add))
OPSIGHT_ATOMIC(atomicAdd, double, OPSIGHT_FETCH(add))
OPSIGHT_ATOMIC(atomicExch, float,
               __builtin_bit_cast(float, atomicExch((int *)p, __builtin_bit_cast(int, v))))
OPSIGHT_ATOMIC(atomicInc, unsigned int, __nvvm_atom_inc_gen_ui(p, v))
OPSIGHT_ATOMIC(atomicDec, unsigned int, __nvvm_atom_dec_gen_ui(p, v))
#undef OPSIGHT_ATOMICS
#undef OPSIGHT_ATOMIC
#undef OPSIGHT_CAS
#undef OPSIGHT_FETCH
#undef OPSIGHT_EXCHANGE

// What the caches are told does not change what is loaded or stored.
#define OPSIGHT_LOAD(NAME)                                                                                             \
  template <class T> OPSIGHT_DEVICE T NAME(const T *p) { return *p; }
#define OPSIGHT_STORE(NAME)                                                                                            \
  template <class T> OPSIGHT_DEVICE void NAME(T *p, T v) { *p = v; }
OPSIGHT_LOAD(__ldg)
OPSIGHT_LOAD(__ldcg)
OPSIGHT_LOAD(__ldca)
OPSIGHT_LOAD(__ldcs)
OPSIGHT_LOAD(__ldlu)
OPSIGHT_LOAD(__ldcv)
OPSIGHT_STORE(__stwb)
OPSIGHT_STORE(__stcg)
OPSIGHT_STORE(__stcs)
OPSIGHT_STORE(__stwt)
#undef OPSIGHT_LOAD
#undef OPSIGHT_STORE

// What PTX calls an address of shared memory is a number of its own.
OPSIGHT_DEVICE __SIZE_TYPE__ __cvta_generic_to_shared(const void *p) {
  __SIZE_TYPE__ number;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(number) : "l"(p));
  return number;
}
OPSIGHT_DEVICE void *__cvta_shared_to_generic(__SIZE_TYPE__ number) {
  void *p;
  asm("cvta.shared.u64 %0, %1;" : "=l"(p) : "l"(number));
  return p;
}
OPSIGHT_DEVICE __SIZE_TYPE__ __cvta_generic_to_global(const void *p) { return (__SIZE_TYPE__)p; }
OPSIGHT_DEVICE void *__cvta_global_to_generic(__SIZE_TYPE__ p) { return (void *)p; }

OPSIGHT_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return __builtin_elementwise_fshl(high, low, shift);
}
OPSIGHT_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return __builtin_elementwise_fshr(high, low, shift);
}
OPSIGHT_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
OPSIGHT_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
