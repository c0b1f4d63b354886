#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lagtape/core/product_format.h"
#include "lagtape/core/simd/level.h"
#include "lagtape/ops/kernels/element_functions.h"

namespace lagtape {

/// Elements in 64 bytes. Every row of a value is padded to a multiple of this, at every SIMD level, so
/// kernels have no tails and levels share their layouts. Padding is never read into a sum.
template <class T>
inline constexpr std::int64_t kLane = 64 / sizeof(T);

template <class T>
constexpr std::int64_t padded(std::int64_t n) {
  return (n + kLane<T> - 1) / kLane<T> * kLane<T>;
}

/// A kernel for n elements, a multiple of kLane; arrays are 64-byte aligned. `out` may be a, b or c. Arrays
/// that the operation does not read may be null.
template <class T>
using ElementKernel = void (*)(T* out, const T* a, const T* b, const T* c, T k, std::int64_t n);

/// An element of a saved array of numbers rounded to bf16: the upper half of a float, or a whole double.
template <class T>
using SavedElement = std::conditional_t<sizeof(T) == 4, std::uint16_t, T>;

/// One of the matrices on the left side of a product: rows x k, row stride lda >= k. (A stride that is a
/// multiple of 4096 bytes puts the rows into the same few places of the cache and costs a seventh of the
/// speed.)
template <class T>
struct ProductOperand {
  const T* a;
  std::int64_t lda;
  std::int64_t k;
  bool rounded = false;  ///< a holds SavedElement<T>s, which lda counts; for products in bf16 alone
};

/// Rows of a matrix, `stride` elements apart. Rounded rows are of SavedElement<T>s.
template <class T>
struct MatrixRows {
  const T* at;
  std::int64_t stride;
  bool rounded = false;
};

/// w[m, n] += d[rows, m]^T x[rows, n], rows added one after another. Rounded rows of d are for products in bf16
/// alone.
template <class T>
struct OuterProduct {
  T* w;
  std::int64_t ldw;
  MatrixRows<T> d;
  const T* x;
  std::int64_t ldx;
  std::int64_t m, n;
};

/// The elements of a packed matrix of k rows: whole pairs of rows, as products in bf16 read them.
template <class T>
constexpr std::int64_t packed_elements(std::int64_t k, std::int64_t columns) {
  return (k + 1) / 2 * 2 * padded<T>(columns);
}

/// A piece of memory that will be read soon.
struct Piece {
  const void* at;
  std::int64_t bytes;
};

/// out = [A0 A1 ...] @ B for packed B. Element (i, j) is one chain of fused multiply-adds over the whole
/// inner dimension, in order, starting from zero: the same bits for any number of rows. (`generic`
/// multiplies, then adds.)
template <class T>
struct Product {
  std::int64_t rows;
  const ProductOperand<T>* operands;  ///< the sum of their k is that of the packed matrix
  std::int64_t operand_count;
  const T* packed;
  std::int64_t columns;     ///< a multiple of kLane
  T* const* out;            ///< [columns / kLane]: where row 0 of each group of kLane columns goes
  const std::int64_t* ldc;  ///< [columns / kLane]: row stride of each group
  /// A single row is computed from its last columns to its first. When steps alternate, each begins with the
  /// end of the matrix that the step before left in the cache.
  bool descending = false;
  /// Memory that is brought into the second-level cache meanwhile, a line now and then: a product of several
  /// rows leaves the way to memory idle. A single row prefetches nothing.
  const Piece* prefetched = nullptr;
  std::int64_t prefetched_count = 0;
  std::int64_t first_row = 0;  ///< the row of `out` that the first row of the operands goes to
};

/// w[i * stride] += sum over rows of a(row, i) factor[row * ldf], i < n, rows added one after another: a
/// column (or a row) of a weight's gradient. Rows of a are padded, whole lanes of it aligned to 64 bytes (32
/// where they are rounded).
template <class T>
struct ScaledSum {
  T* w;
  std::int64_t stride, n;
  MatrixRows<T> a;
  const T* factor;
  std::int64_t ldf;  ///< 0: the same factor for all rows
};

/// Updates the derivatives of up to kMostStates states by a packed matrix [k x columns], the traces, by a step, and
/// adds their parts to the matrix's gradient. The states of a column are its own: element (j, i) of trace s becomes
///
///     e_s(j, i) = sum over r of carry[s * states + r][i] e_r(j, i), then + entry[s][i] x[j]
///
/// and to w(j, i) are added, of the old traces, before[s][i] e_s(j, i), of the new ones credit[s][i] e_s(j, i), and
/// direct[i] x[j]. Vectors have `columns` elements, a multiple of kLane; traces are packed as the matrix is. All of
/// `before`, and `direct`, may be null. Without states, `backward` [k] receives sum over i of w(j, i) direct[i] of the matrix
/// before it moves, and `scratch` has kScratch k elements.
template <class T>
struct TraceUpdate {
  static constexpr int kMostStates = 4;
  T* w;
  const T* x;  ///< [k]
  std::int64_t k, columns;
  const T* direct;
  int states;
  T* traces[kMostStates];
  const T* carry[kMostStates * kMostStates];
  const T* entry[kMostStates];
  const T* credit[kMostStates];
  const T* before[kMostStates];
  static constexpr std::int64_t kScratch = 2 * kLane<T>;
  T *backward, *scratch;
};

/// The kernels of one SIMD level for one scalar. The same table serves the sequence op, the stream and the
/// outer tape.
template <class T>
struct Kernels {
  SimdLevel level;
  bool fused;  ///< whether a multiply-add is rounded once
  /// The operands of `product` and `add_outer_products`. All else is independent of it.
  ProductFormat products;
  ElementKernel<T> element[static_cast<int>(ElementOp::count)];

  /// Packs a k x columns matrix for `product`; `packed` has packed_elements, 64-byte aligned.
  /// b(i, j) is b[i * row_stride + j * column_stride]; columns beyond `columns` are zero.
  void (*pack)(T* packed, const T* b, std::int64_t k, std::int64_t columns, std::int64_t row_stride,
               std::int64_t column_stride);
  /// Packs into columns `first_column`.. and inner rows `first_k`.. of a larger packed matrix of total_k rows
  /// and total_columns columns (first_column and total_columns multiples of kLane): stacks of matrices are
  /// packed in this way, one below the other from the first on.
  void (*pack_part)(T* packed, std::int64_t total_k, std::int64_t total_columns, std::int64_t first_k,
                    std::int64_t first_column, const T* b, std::int64_t k, std::int64_t columns,
                    std::int64_t row_stride, std::int64_t column_stride);
  void (*product)(const Product<T>& args);

  /// Adds `count` sums over the same number of rows, side by side. No two of them write the same place.
  void (*add_scaled_sums)(const ScaledSum<T>* sums, std::int64_t count, std::int64_t rows);
  /// out(i, g) = sum of the `size` elements of group g of row i. Element e goes to partial sum e mod kLane in
  /// order, then the partial sums are added pairwise: one order at every level. Rows are padded(groups *
  /// size) and padded(groups) wide.
  void (*sum_groups)(T* out, const T* a, std::int64_t rows, std::int64_t groups, std::int64_t size);
  /// out(i, g * size + e) = a(i, g), in the same layouts.
  void (*broadcast_groups)(T* out, const T* a, std::int64_t rows, std::int64_t groups, std::int64_t size);
  /// out(i, j) = x[i * ldx] column[j]; with c (laid out as out) c(i, j) is added, rounded as in a product.
  /// Rows of out are `width` wide, a multiple of kLane; out may be c.
  void (*scale_column)(T* out, const T* x, std::int64_t ldx, const T* column, const T* c, std::int64_t rows,
                       std::int64_t width);
  void (*update_traces)(const TraceUpdate<T>& update);
  /// A step of numbers on the grid (grid.h): to = from + sign * round(increment), and view = to in the
  /// model's precision; sign is 1 or -1. The step is exact, so that the opposite sign leads back. A result
  /// beyond the grid becomes NaN, as does every NaN.
  void (*add_on_grid)(T* view, double* to, const double* from, const T* increment, double sign,
                      std::int64_t n);
  /// out = a rounded to bf16, and out = a of an array of such numbers; n elements, whole rows.
  void (*save)(SavedElement<T>* out, const T* a, std::int64_t n);
  void (*restore)(T* out, const SavedElement<T>* a, std::int64_t n);
  /// Adds `count` products over the same number of rows. Neighbors with the same x share its rounded copy.
  void (*add_outer_products)(const OuterProduct<T>* products, std::int64_t count, std::int64_t rows);
};

}  // namespace lagtape
