// Matrices that a warp multiplies together (nvcuda::wmma), on top of PTX's mma.sync. CUDA leaves open which lane holds
// which element; here a fragment is a row of mma.sync's own fragments of 16 × depth (left), depth × 8 (right) and 16 × 8
// (sums), so that a product needs no exchange. Where m is 8, the product is that of the transposes.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "opsight/prelude.h"

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
} // namespace precision
namespace experimental::precision { // known by name, so that a kernel that uses them is refused and not misread
struct u4;
struct s4;
struct b1;
} // namespace experimental::precision

__device__ void __opsight_no_fragment() __asm__("__opsight_missing_wmma fragment of this shape and type");
__device__ void __opsight_no_saturation() __asm__("__opsight_missing_wmma product that saturates");

/// What is kept for a T, how many of them fill a word, and how deep a product of them is; 0: none such.
template <class T> struct __opsight_element {
  using type = float;
  static constexpr int per_word = 1, depth = 0;
};
#define OPSIGHT_MATRIX_ELEMENT(T, KEPT, WORD, DEPTH)                                                                   \
  template <> struct __opsight_element<T> {                                                                            \
    using type = KEPT;                                                                                                 \
    static constexpr int per_word = WORD, depth = DEPTH;                                                               \
  };
OPSIGHT_MATRIX_ELEMENT(__half, __half, 2, 16)
OPSIGHT_MATRIX_ELEMENT(__nv_bfloat16, __nv_bfloat16, 2, 16)
OPSIGHT_MATRIX_ELEMENT(precision::tf32, float, 1, 8)
OPSIGHT_MATRIX_ELEMENT(signed char, signed char, 4, 16)
OPSIGHT_MATRIX_ELEMENT(unsigned char, unsigned char, 4, 16)
#undef OPSIGHT_MATRIX_ELEMENT
template <class T> struct __opsight_sum {
  using type = T;
  static constexpr bool known = __is_same(T, float) || __is_same(T, __half) || __is_same(T, int);
};

struct __opsight_place {
  unsigned row, column;
};
OPSIGHT_DEVICE unsigned __opsight_lane() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

/// Which of the three a fragment is, and where its element `i` lies in the user's matrix.
template <class Use, int m, int n, int k, class T> struct __opsight_tiles;
template <int m, int n, int k> struct __opsight_shape {
  static constexpr bool swapped = m == 8, known = (m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32);
  static constexpr int left_tiles = (swapped ? n : m) / 16, right_tiles = (swapped ? m : n) / 8;
};
template <bool transposed, int m, int n, int k, class T> struct __opsight_left {
  static constexpr bool known = __opsight_shape<m, n, k>::known && k == __opsight_element<T>::depth;
  static constexpr int each = k / 2, elements = known ? __opsight_shape<m, n, k>::left_tiles * each : 1;
  __device__ static __opsight_place place(int i) {
    constexpr int per_word = __opsight_element<T>::per_word;
    int word = i % each / per_word;
    unsigned row = 16 * (i / each) + __opsight_lane() / 4 + 8 * (word % 2);
    unsigned column = 4 * per_word * (word / 2) + per_word * (__opsight_lane() % 4) + i % per_word;
    return transposed ? __opsight_place{column, row} : __opsight_place{row, column};
  }
};
template <bool transposed, int m, int n, int k, class T> struct __opsight_right {
  static constexpr bool known = __opsight_shape<m, n, k>::known && k == __opsight_element<T>::depth;
  static constexpr int each = k / 4, elements = known ? __opsight_shape<m, n, k>::right_tiles * each : 1;
  __device__ static __opsight_place place(int i) {
    constexpr int per_word = __opsight_element<T>::per_word;
    unsigned row = 4 * per_word * (i % each / per_word) + per_word * (__opsight_lane() % 4) + i % per_word;
    unsigned column = 8 * (i / each) + __opsight_lane() / 4;
    return transposed ? __opsight_place{column, row} : __opsight_place{row, column};
  }
};
template <int m, int n, int k, class T> struct __opsight_tiles<matrix_a, m, n, k, T> : __opsight_left<false, m, n, k, T> {};
template <int n, int k, class T> struct __opsight_tiles<matrix_a, 8, n, k, T> : __opsight_right<true, 8, n, k, T> {};
template <int m, int n, int k, class T> struct __opsight_tiles<matrix_b, m, n, k, T> : __opsight_right<false, m, n, k, T> {};
template <int n, int k, class T> struct __opsight_tiles<matrix_b, 8, n, k, T> : __opsight_left<true, 8, n, k, T> {};
template <int m, int n, int k, class T> struct __opsight_tiles<accumulator, m, n, k, T> {
  using shape = __opsight_shape<m, n, k>;
  static constexpr bool known = shape::known && __opsight_sum<T>::known && (k == 8 || k == 16);
  static constexpr int elements = known ? 4 * shape::left_tiles * shape::right_tiles : 1;
  __device__ static __opsight_place place(int i) {
    unsigned row = 16 * (i / 4 / shape::right_tiles) + __opsight_lane() / 4 + 8 * (i % 4 / 2);
    unsigned column = 8 * (i / 4 % shape::right_tiles) + 2 * (__opsight_lane() % 4) + i % 2;
    return shape::swapped ? __opsight_place{column, row} : __opsight_place{row, column};
  }
};
template <class Use, class T> struct __opsight_kept : __opsight_element<T> {};
template <class T> struct __opsight_kept<accumulator, T> : __opsight_sum<T> {};

template <class Use, int m, int n, int k, class T, class Layout = void> class fragment {
public:
  using tiles = __opsight_tiles<Use, m, n, k, T>;
  using element_type = typename __opsight_kept<Use, T>::type;
  using storage_element_type = element_type;
  static constexpr int num_elements = tiles::elements, num_storage_elements = num_elements;
  element_type x[num_elements];

  __device__ fragment() {
    if constexpr (!tiles::known)
      __opsight_no_fragment();
  }
};

template <class Use, int m, int n, int k, class T, class Layout, class V>
OPSIGHT_DEVICE void fill_fragment(fragment<Use, m, n, k, T, Layout> &to, const V &value) {
  _Pragma("unroll") for (int i = 0; i < to.num_elements; ++i) to.x[i] = value;
}

/// Element (row, column) lies at row * ldm + column, or by columns at column * ldm + row.
OPSIGHT_DEVICE unsigned __opsight_offset(__opsight_place at, unsigned ldm, bool byColumns) {
  return byColumns ? at.column * ldm + at.row : at.row * ldm + at.column;
}
template <class Layout> inline constexpr bool __opsight_by_columns = false;
template <> inline constexpr bool __opsight_by_columns<col_major> = true;

template <class Use, int m, int n, int k, class T, class Layout>
OPSIGHT_DEVICE void load_matrix_sync(fragment<Use, m, n, k, T, Layout> &to,
                                     const typename fragment<Use, m, n, k, T, Layout>::element_type *from, unsigned ldm) {
  using tiles = typename fragment<Use, m, n, k, T, Layout>::tiles;
  if constexpr (tiles::known)
    _Pragma("unroll") for (int i = 0; i < to.num_elements; ++i)
        to.x[i] = from[__opsight_offset(tiles::place(i), ldm, __opsight_by_columns<Layout>)];
}
template <int m, int n, int k, class T>
OPSIGHT_DEVICE void load_matrix_sync(fragment<accumulator, m, n, k, T> &to, const T *from, unsigned ldm, layout_t layout) {
  using tiles = typename fragment<accumulator, m, n, k, T>::tiles;
  if constexpr (tiles::known)
    _Pragma("unroll") for (int i = 0; i < to.num_elements; ++i)
        to.x[i] = from[__opsight_offset(tiles::place(i), ldm, layout == mem_col_major)];
}
template <int m, int n, int k, class T>
OPSIGHT_DEVICE void store_matrix_sync(T *to, const fragment<accumulator, m, n, k, T> &from, unsigned ldm, layout_t layout) {
  using tiles = typename fragment<accumulator, m, n, k, T>::tiles;
  if constexpr (tiles::known)
    _Pragma("unroll") for (int i = 0; i < from.num_elements; ++i)
        to[__opsight_offset(tiles::place(i), ldm, layout == mem_col_major)] = from.x[i];
}

/// Rounds to the ten bits of fraction that a product of tf32 looks at, halves away from zero.
OPSIGHT_DEVICE float __float_to_tf32(float v) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
  return __builtin_bit_cast(float, bits);
}

// One product of mma.sync's size; T is the left side's element.
#define OPSIGHT_MMA(T, SUM, LETTER, SHAPE, LEFT, RIGHT, ...)                                                           \
  OPSIGHT_DEVICE void __opsight_mma(const T *, SUM *d, const unsigned *a, const unsigned *b) {                         \
    asm volatile("mma.sync.aligned." SHAPE " {%0, %1, %2, %3}, " LEFT ", " RIGHT ", {%0, %1, %2, %3};"                 \
                 : "+" LETTER(d[0]), "+" LETTER(d[1]), "+" LETTER(d[2]), "+" LETTER(d[3])                              \
                 : __VA_ARGS__);                                                                                       \
  }
#define OPSIGHT_MMA_LARGE(T, SUM, LETTER, SHAPE)                                                                       \
  OPSIGHT_MMA(T, SUM, LETTER, SHAPE, "{%4, %5, %6, %7}", "{%8, %9}", "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),       \
              "r"(b[0]), "r"(b[1]))
#define OPSIGHT_MMA_BYTES(T, SHAPE)                                                                                    \
  OPSIGHT_MMA(T, int, "r", SHAPE, "{%4, %5}", "{%6}", "r"(a[0]), "r"(a[1]), "r"(b[0]))
OPSIGHT_MMA_LARGE(__half, float, "f", "m16n8k16.row.col.f32.f16.f16.f32")
OPSIGHT_MMA_LARGE(__nv_bfloat16, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
OPSIGHT_MMA_LARGE(float, float, "f", "m16n8k8.row.col.f32.tf32.tf32.f32")
OPSIGHT_MMA_BYTES(signed char, "m16n8k16.row.col.s32.s8.s8.s32")
OPSIGHT_MMA_BYTES(unsigned char, "m16n8k16.row.col.s32.u8.u8.s32")
#undef OPSIGHT_MMA_BYTES
#undef OPSIGHT_MMA_LARGE
#undef OPSIGHT_MMA

/// Sums in half are added up in float and rounded once, at the end, as in mma.sync; those in float and int are what they are.
template <class T> struct __opsight_added {
  using type = T;
};
template <> struct __opsight_added<__half> {
  using type = float;
};

template <int m, int n, int k, class T, class LayoutA, class LayoutB, class SumD, class SumC>
OPSIGHT_DEVICE void mma_sync(fragment<accumulator, m, n, k, SumD> &d, const fragment<matrix_a, m, n, k, T, LayoutA> &a,
                             const fragment<matrix_b, m, n, k, T, LayoutB> &b,
                             const fragment<accumulator, m, n, k, SumC> &c, bool satf = false) {
  using shape = __opsight_shape<m, n, k>;
  using element = typename fragment<matrix_a, m, n, k, T, LayoutA>::element_type;
  constexpr bool isBytes = sizeof(element) == 1, sumsInts = __is_same(SumD, int) && __is_same(SumC, int);
  if (satf)
    __opsight_no_saturation();
  if constexpr (!fragment<matrix_a, m, n, k, T, LayoutA>::tiles::known) {
    // its fragments have said so
  } else if constexpr (isBytes != sumsInts || (__is_same(SumD, int) != __is_same(SumC, int))) {
    __opsight_no_fragment();
  } else {
    constexpr int left_words = k / 2 / __opsight_element<T>::per_word, right_words = left_words / 2;
    unsigned left[shape::left_tiles * left_words], right[shape::right_tiles * right_words];
    __builtin_memcpy(left, shape::swapped ? (const void *)b.x : a.x, sizeof left);
    __builtin_memcpy(right, shape::swapped ? (const void *)a.x : b.x, sizeof right);
    _Pragma("unroll") for (int i = 0; i < shape::left_tiles; ++i)
        _Pragma("unroll") for (int j = 0; j < shape::right_tiles; ++j) {
      int first = 4 * (i * shape::right_tiles + j);
      typename __opsight_added<SumC>::type sums[4];
      _Pragma("unroll") for (int e = 0; e < 4; ++e) sums[e] = c.x[first + e];
      __opsight_mma((const element *)nullptr, sums, left + i * left_words, right + j * right_words);
      _Pragma("unroll") for (int e = 0; e < 4; ++e) d.x[first + e] = sums[e];
    }
  }
}

} // namespace nvcuda::wmma
