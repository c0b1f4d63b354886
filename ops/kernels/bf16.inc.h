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
// definition is the instruction vdpbf16ps: it processes the inner dimension in pairs of elements. The second
// element is multiplied and added first, then the first, each rounded once; an odd last element is paired with
// zero. Subnormal inputs and results count as zeros with their sign. So an element is one chain over the inner
// dimension, the same for any number of rows, as with the other products.
//
// The operands are copied to another layout and then use the tiles of the other products. A format defines how:
// - `Simd`: the vectors of the tiles, whose fma adds the contents of one slot,
// - slots(k): the number of slots for an inner dimension of k elements,
// - kSavedAreSlots: whether rounded operands of whole pairs are stored in memory as slots,
// - put, copy_row, copy_vectors, and pair_rows: write elements into their slots. Rows of the last two may be
// SavedElement<T>s, which are already rounded. A slot is as large as a scalar. The processor's own format holds a
// pair in it; the emulation below holds one rounded element in each, the two of a pair swapped.

/// While it exists, the processor treats subnormal numbers as the instruction does. (On aarch64, a product or
/// sum that rounding would bring up to the least normal number still becomes zero.)
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
#elif defined(__aarch64__)
 public:
  FlushWhileMultiplying() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    if ((saved_ & kFlush) == 0) asm volatile("msr fpcr, %0" : : "r"(saved_ | kFlush) : "memory");
  }
  ~FlushWhileMultiplying() {
    if ((saved_ & kFlush) == 0) asm volatile("msr fpcr, %0" : : "r"(saved_) : "memory");
  }

 private:
  static constexpr std::uint64_t kFlush = 1U << 24;
  std::uint64_t saved_;
#endif
};

/// f32 vectors without fma. The sum of a float and a product of two bf16 numbers, rounded to a double and then
/// to a float, is the same as if rounded once, because a double has more than twice the bits.
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

/// A number as bf16 products see it.
template <class S>
typename S::Scalar rounded_number(typename S::Scalar x) {
  return round_to_bf16<S>(x);
}
template <class S>
requires(sizeof(typename S::Scalar) == 4) typename S::Scalar rounded_number(std::uint16_t x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
}

/// The format without the instruction: exactly the same bits from scalar multiply-adds. In f64 it is the
/// definition with sums in f64.
template <class S>
struct Bf16Emulation {
  using T = typename S::Scalar;
  using Simd = std::conditional_t<S::kFused || sizeof(T) == 8, S, FusedInDoubles<S>>;
  using Mode = FlushWhileMultiplying<S>;
  static constexpr std::int64_t kRowsOfPair = 2;  ///< rows of slots of a pair of rows
  static constexpr bool kSavedAreSlots = false;

  static constexpr std::int64_t slots(std::int64_t k) { return (k + 1) / 2 * 2; }

  /// Element e of an inner dimension whose slots are `stride` apart; elements come in order.
  static void put(T* slots, std::int64_t stride, std::int64_t e, T value) {
    slots[(e ^ 1) * stride] = round_to_bf16<S>(value);
    if (e % 2 == 0) slots[e * stride] = T(0);
  }

  /// The elements of a row of slots, starting at `first`.
  template <class Element>
  static void copy_row(T* slots, std::int64_t first, const Element* from, std::int64_t k) {
    std::int64_t e = 0;
    if (first % 2 == 0) {
      for (; e + 1 < k; e += 2) {
        slots[first + e] = rounded_number<S>(from[e + 1]);
        slots[first + e + 1] = rounded_number<S>(from[e]);
      }
    }
    for (; e < k; ++e) put(slots, 1, first + e, rounded_number<S>(from[e]));
  }

  /// Copies rows of the operands, if there is a faster way than copy_row: not here.
  static bool copy_vectors(T*, std::int64_t, const Product<T>&, std::int64_t, std::int64_t) { return false; }

  /// Rows of n elements as an inner dimension: pairs of rows, the last of which may be half a pair.
  template <class Element>
  static void pair_rows(T* slots, std::int64_t stride, const Element* from, std::int64_t ld,
                        std::int64_t rows, std::int64_t n) {
    for (; rows > 0; rows -= 2, from += 2 * ld, slots += 2 * stride) {
      for (std::int64_t j = 0; j < n; ++j) slots[j] = rows == 1 ? T(0) : rounded_number<S>(from[ld + j]);
      for (std::int64_t j = 0; j < n; ++j) slots[stride + j] = rounded_number<S>(from[j]);
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

/// The bytes of rounded operands that are copied at a time: they share the second-level cache with weights and
/// results.
inline constexpr std::int64_t kBf16Block = 128 * 1024;

/// Slots between the starts of consecutive operand rows: whole vectors, and not a multiple of 4096 bytes
/// (ProductOperand).
template <class T>
constexpr std::int64_t slot_stride(std::int64_t slots) {
  const std::int64_t stride = padded<T>(slots);
  return stride * static_cast<std::int64_t>(sizeof(T)) % 4096 == 0 ? stride + kLane<T> : stride;
}

/// Memory for rounded operands: on the stack for small ones, whose products take less time than an allocation.
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

/// Operands that products can read in place, without a copy.
inline constexpr std::int64_t kOperandsAsTheyLie = 8;

/// Runs the product on rounded operands in place, if they are stored in slots. Returns false otherwise.
template <class F>
bool multiply_as_they_lie(const Product<typename F::T>& product) {
  using T = typename F::T;
  if constexpr (F::kSavedAreSlots) {
    if (product.operand_count > kOperandsAsTheyLie) return false;
    ProductOperand<T> operands[kOperandsAsTheyLie];
    for (std::int64_t o = 0; o < product.operand_count; ++o) {
      const ProductOperand<T>& operand = product.operands[o];
      if (!operand.rounded || operand.k % 2 != 0 || operand.lda % 2 != 0 || operand.lda % 2048 == 0)
        return false;
      operands[o] = {operand.a, operand.lda / 2, operand.k / 2};
    }
    Product<T> in_slots = product;
    in_slots.operands = operands;
    multiply_packed<typename F::Simd>(in_slots);
    return true;
  } else {
    return false;
  }
}

/// Writes an operand's row into slots, starting at `first`.
template <class F>
void copy_operand_row(typename F::T* slots, std::int64_t first, const ProductOperand<typename F::T>& operand,
                      std::int64_t row) {
  if (operand.rounded)
    F::copy_row(slots, first,
                reinterpret_cast<const SavedElement<typename F::T>*>(operand.a) + row * operand.lda,
                operand.k);
  else
    F::copy_row(slots, first, operand.a + row * operand.lda, operand.k);
}

template <class F>
void bf16_product(const Product<typename F::T>& product) {
  using T = typename F::T;
  [[maybe_unused]] const typename F::Mode mode;
  if (multiply_as_they_lie<F>(product)) return;
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
          copy_operand_row<F>(rounded + r * stride, first, product.operands[o], row + r);
          first += product.operands[o].k;
        }
      }
    }
    multiply_packed<typename F::Simd>(part);
    part.prefetched_count = 0;
  }
}

/// Rows of a weight gradient that are copied at a time: whole pairs. Tiles load and store their sums once for
/// all of them.
inline constexpr std::int64_t kBf16Rows = 256;

/// Rows of slots, starting at `row`, of pairs of rows.
template <class F>
void pair_matrix_rows(typename F::T* slots, std::int64_t stride, const MatrixRows<typename F::T>& from,
                      std::int64_t row, std::int64_t rows, std::int64_t n) {
  using Saved = SavedElement<typename F::T>;
  if (from.rounded)
    F::pair_rows(slots, stride, reinterpret_cast<const Saved*>(from.at) + row * from.stride, from.stride,
                 rows, n);
  else
    F::pair_rows(slots, stride, from.at + row * from.stride, from.stride, rows, n);
}

/// Products with the same x, which is copied once for all of them.
template <class F>
void bf16_outer_products_of_one(const OuterProduct<typename F::T>* products, std::int64_t count,
                                std::int64_t rows) {
  using T = typename F::T;
  std::int64_t largest = 0;
  for (std::int64_t p = 0; p < count; ++p) largest = products[p].m > largest ? products[p].m : largest;
  const std::int64_t n = products->n, right_stride = slot_stride<T>(n);
  const std::int64_t most = ((rows < kBf16Rows ? rows : kBf16Rows) + 1) / 2 * F::kRowsOfPair;
  Rounded<T> memory(most * (slot_stride<T>(largest) + right_stride) + 2 * kLane<T>);
  T* const right = memory.data();
  T* const left = right + most * right_stride + kLane<T>;
  for (std::int64_t row = 0; row < rows; row += kBf16Rows) {
    const std::int64_t count_here = rows - row < kBf16Rows ? rows - row : kBf16Rows;
    const std::int64_t slot_rows = (count_here + 1) / 2 * F::kRowsOfPair;
    pair_matrix_rows<F>(right, right_stride, {products->x, products->ldx}, row, count_here, n);
    for (const OuterProduct<T>* p = products; p != products + count; ++p) {
      const std::int64_t left_stride = slot_stride<T>(p->m);
      pair_matrix_rows<F>(left, left_stride, p->d, row, count_here, p->m);
      add_outer_product<typename F::Simd>(p->w, p->ldw, left, left_stride, right, right_stride, slot_rows,
                                          p->m, n);
    }
  }
}

template <class F>
void bf16_outer_products(const OuterProduct<typename F::T>* products, std::int64_t count, std::int64_t rows) {
  [[maybe_unused]] const typename F::Mode mode;
  for (std::int64_t done = 0, same = 1; done < count; done += same, same = 1) {
    const OuterProduct<typename F::T>* const first = products + done;
    while (done + same < count && first[same].x == first->x && first[same].ldx == first->ldx &&
           first[same].n == first->n)
      ++same;
    bf16_outer_products_of_one<F>(first, same, rows);
  }
}

/// Fills a table with the products of a format.
template <class F>
constexpr void fill_bf16_products(Kernels<typename F::T>& table) {
  table.products = ProductFormat::bf16;
  table.pack = &bf16_pack<F>;
  table.pack_part = &bf16_pack_part<F>;
  table.product = &bf16_product<F>;
  table.add_outer_products = &bf16_outer_products<F>;
}

}  // namespace lagtape
