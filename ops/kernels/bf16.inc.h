#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "lagtape/ops/kernels/bf16_rounding.inc.h"
#include "lagtape/ops/kernels/outer_product.inc.h"
#include "lagtape/ops/kernels/product.inc.h"
#include "lagtape/ops/kernels/scratch.h"

namespace lagtape {

// Products whose operands are rounded to bf16 (to nearest, ties to even) and whose sums are in f32. The
// definition is the instruction vdpbf16ps: the inner dimension goes in pairs of elements, of which the second
// is multiplied and added first, then the first, each rounded once; the last pair of an odd number is filled
// up with zero. Subnormal numbers count as zeros of their sign, before and after. So an element is one chain
// over the inner dimension, the same whatever the number of rows, as with the other products.
//
// The operands are laid out anew and then go through the tiles of the other products. A format says how:
// - `Simd`: the vectors of the tiles, whose fma adds what lies in one slot,
// - slots(k): the slots of an inner dimension of k elements,
// - put, copy_row, copy_vectors and pair_rows: the elements into their slots.
// A slot is as large as a scalar. The processor's own format holds a pair in it; the emulation below holds
// one rounded element in each, the two of a pair swapped.

/// While it lives, the processor treats subnormal numbers as the instruction does.
template <class S>
class FlushWhileMultiplying {
#ifdef __SSE__
 public:
  FlushWhileMultiplying() : saved_(__builtin_ia32_stmxcsr()) {
    if ((saved_ & kFlush) != kFlush) __builtin_ia32_ldmxcsr(saved_ | kFlush);
  }
  ~FlushWhileMultiplying() {
    if ((saved_ & kFlush) != kFlush) __builtin_ia32_ldmxcsr(saved_);
  }

 private:
  static constexpr unsigned kFlush = 0x8040;  // results, and operands
  unsigned saved_;
#endif
};

/// f32 vectors without an fma of their own. The sum of a float and a product of two bf16 numbers, rounded to
/// a double and then to a float, is rounded as if once, because a double has more than twice the bits.
template <class S>
struct FusedInDoubles : S {
  using Vector = typename S::Vector;
  [[gnu::always_inline]] static inline Vector fma(Vector a, Vector b, Vector c) {
    alignas(64) float left[S::kSize], right[S::kSize], sum[S::kSize];
    a.store_aligned(left);
    b.store_aligned(right);
    c.store_aligned(sum);
    for (int i = 0; i < S::kSize; ++i) {
      const float before = __builtin_fabsf(sum[i]) < 0x1p-126F ? __builtin_copysignf(0, sum[i]) : sum[i];
      const double exact = static_cast<double>(left[i]) * right[i] + before;
      // Whether a result is subnormal is decided by its value rounded to 24 bits.
      const bool tiny = __builtin_fabs(exact) < 0x1p-126 - 0x1p-151;
      sum[i] = static_cast<float>(tiny ? __builtin_copysign(0, exact) : exact);
    }
    return Vector::load_aligned(sum);
  }
};

/// The format without the instruction: the very same bits from multiply-adds of the scalar. In f64 it is the
/// definition with sums in f64.
template <class S>
struct Bf16Emulation {
  using T = typename S::Scalar;
  using Simd = std::conditional_t<S::kFused || sizeof(T) == 8, S, FusedInDoubles<S>>;
  using Mode = FlushWhileMultiplying<S>;
  static constexpr std::int64_t kRowsOfPair = 2;  ///< rows of slots of a pair of rows

  static constexpr std::int64_t slots(std::int64_t k) { return (k + 1) / 2 * 2; }

  /// Element e of an inner dimension whose slots are `stride` apart; elements come in order.
  static void put(T* slots, std::int64_t stride, std::int64_t e, T value) {
    slots[(e ^ 1) * stride] = round_to_bf16<S>(value);
    if (e % 2 == 0) slots[e * stride] = T(0);
  }

  /// The elements `first`.. of a row of slots.
  static void copy_row(T* slots, std::int64_t first, const T* from, std::int64_t k) {
    std::int64_t e = 0;
    if (first % 2 == 0) {
      for (; e + 1 < k; e += 2) {
        slots[first + e] = round_to_bf16<S>(from[e + 1]);
        slots[first + e + 1] = round_to_bf16<S>(from[e]);
      }
    }
    for (; e < k; ++e) put(slots, 1, first + e, from[e]);
  }

  /// Rows of the operands where there is a faster way than copy_row: not here.
  static bool copy_vectors(T*, std::int64_t, const Product<T>&, std::int64_t, std::int64_t) { return false; }

  /// Rows of n elements as an inner dimension: pairs of rows, the last of which may be half a pair.
  static void pair_rows(T* slots, std::int64_t stride, const T* from, std::int64_t ld, std::int64_t rows,
                        std::int64_t n) {
    for (; rows > 0; rows -= 2, from += 2 * ld, slots += 2 * stride) {
      for (std::int64_t j = 0; j < n; ++j) slots[j] = rows == 1 ? T(0) : round_to_bf16<S>(from[ld + j]);
      for (std::int64_t j = 0; j < n; ++j) slots[stride + j] = round_to_bf16<S>(from[j]);
    }
  }
};

/// The panels of `pack_part`, of slots(total_k) slots. Parts of the inner dimension come in order.
template <class F>
void bf16_pack_part(typename F::T* packed, std::int64_t total_k, std::int64_t total_columns,
                    std::int64_t first_k, std::int64_t first_column, const typename F::T* b, std::int64_t k,
                    std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
  using T = typename F::T;
  constexpr std::int64_t panel = kPanel<typename F::Simd>;
  for (std::int64_t j = 0; j < padded<T>(columns); ++j) {
    const std::int64_t column = first_column + j, start = column / panel * panel;
    const std::int64_t step = total_columns - start < panel ? total_columns - start : panel;
    T* to = packed + start * F::slots(total_k) + (column - start);
    const T* from = b + j * column_stride;
    for (std::int64_t i = 0; i < k; ++i)
      F::put(to, step, first_k + i, j < columns ? from[i * row_stride] : T(0));
  }
}

template <class F>
void bf16_pack(typename F::T* packed, const typename F::T* b, std::int64_t k, std::int64_t columns,
               std::int64_t row_stride, std::int64_t column_stride) {
  bf16_pack_part<F>(packed, k, padded<typename F::T>(columns), 0, 0, b, k, columns, row_stride,
                    column_stride);
}

/// The bytes of rounded operands that are laid out at a time: they share the second-level cache with weights
/// and results.
inline constexpr std::int64_t kBf16Block = 128 * 1024;

/// Slots from one row of an operand to the next: whole vectors, and no multiple of 4096 bytes (ProductOperand).
template <class T>
constexpr std::int64_t slot_stride(std::int64_t slots) {
  const std::int64_t stride = padded<T>(slots);
  return stride * static_cast<std::int64_t>(sizeof(T)) % 4096 == 0 ? stride + kLane<T> : stride;
}

/// Memory for rounded operands: on the stack for small ones, whose products take less than finding any other.
template <class T>
class Rounded {
 public:
  explicit Rounded(std::int64_t elements)
      : data_(elements <= kFew ? few_ : static_cast<T*>(kernel_scratch(elements * sizeof(T)))) {}
  T* data() { return data_; }

 private:
  static constexpr std::int64_t kFew = 8 * 1024 / sizeof(T);
  alignas(64) T few_[kFew];
  T* data_;
};

template <class F>
void bf16_product(const Product<typename F::T>& product) {
  using T = typename F::T;
  [[maybe_unused]] const typename F::Mode mode;
  std::int64_t total_k = 0;
  for (std::int64_t o = 0; o < product.operand_count; ++o) total_k += product.operands[o].k;
  const std::int64_t slots = F::slots(total_k), stride = slot_stride<T>(slots);
  std::int64_t most = product.rows;
  if (most * stride * static_cast<std::int64_t>(sizeof(T)) > kBf16Block) {
    most = kBf16Block / (stride * static_cast<std::int64_t>(sizeof(T)));
    if (most < kTileRows<typename F::Simd>) most = kTileRows<typename F::Simd>;
  }
  Rounded<T> memory(most * stride + kLane<T>);
  T* const rounded = memory.data();
  const ProductOperand<T> operand{rounded, stride, slots};
  Product<T> part = product;
  part.operands = &operand;
  part.operand_count = 1;
  for (std::int64_t row = 0; row < product.rows; row += most) {
    part.first_row = row;
    part.rows = product.rows - row < most ? product.rows - row : most;
    if (!F::copy_vectors(rounded, stride, product, row, part.rows)) {
      for (std::int64_t r = 0; r < part.rows; ++r) {
        std::int64_t first = 0;
        for (std::int64_t o = 0; o < product.operand_count; ++o) {
          const ProductOperand<T>& left = product.operands[o];
          F::copy_row(rounded + r * stride, first, left.a + (row + r) * left.lda, left.k);
          first += left.k;
        }
      }
    }
    multiply_packed<typename F::Simd>(part);
    part.prefetched_count = 0;
  }
}

/// Rows of a weight's gradient that are laid out at a time: whole pairs.
inline constexpr std::int64_t kBf16Rows = 128;

template <class F>
void bf16_outer_products(typename F::T* w, std::int64_t ldw, const typename F::T* d, std::int64_t ldd,
                         const typename F::T* x, std::int64_t ldx, std::int64_t rows, std::int64_t m,
                         std::int64_t n) {
  using T = typename F::T;
  [[maybe_unused]] const typename F::Mode mode;
  const std::int64_t left_stride = slot_stride<T>(m), right_stride = slot_stride<T>(n);
  const std::int64_t most = ((rows < kBf16Rows ? rows : kBf16Rows) + 1) / 2 * F::kRowsOfPair;
  Rounded<T> memory(most * (left_stride + right_stride) + 2 * kLane<T>);
  T* const left = memory.data();
  T* const right = left + most * left_stride + kLane<T>;
  for (std::int64_t row = 0; row < rows; row += kBf16Rows) {
    const std::int64_t count = rows - row < kBf16Rows ? rows - row : kBf16Rows;
    const std::int64_t slot_rows = (count + 1) / 2 * F::kRowsOfPair;
    F::pair_rows(left, left_stride, d + row * ldd, ldd, count, m);
    F::pair_rows(right, right_stride, x + row * ldx, ldx, count, n);
    add_outer_products<typename F::Simd>(w, ldw, left, left_stride, right, right_stride, slot_rows, m, n);
  }
}

/// Puts the products of a format into a table.
template <class F>
constexpr void fill_bf16_products(Kernels<typename F::T>& table) {
  table.products = ProductFormat::bf16;
  table.pack = &bf16_pack<F>;
  table.pack_part = &bf16_pack_part<F>;
  table.product = &bf16_product<F>;
  table.add_outer_products = &bf16_outer_products<F>;
}

}  // namespace lagtape
