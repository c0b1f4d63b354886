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

/// An element of a saved array of bf16-rounded numbers: the upper half of a float, or a whole double.
template <class T>
using SavedElement = std::conditional_t<sizeof(T) == 4, std::uint16_t, T>;

/// One of the matrices on the left-hand side of a product: rows x k, row stride lda >= k. (A stride that is a
/// multiple of 4096 bytes maps the rows to the same few cache sets and costs a seventh of the speed.)
template <class T>
struct ProductOperand {
  const T* a;
  std::int64_t lda;
  std::int64_t k;
  bool rounded = false;  ///< a holds SavedElement<T>s, which lda counts; only for bf16 products
};

/// Rows of a matrix, `stride` elements apart. Rounded rows consist of SavedElement<T>s.
template <class T>
struct MatrixRows {
  const T* at;
  std::int64_t stride;
  bool rounded = false;
};

/// w[m, n] += d[rows, m]^T x[rows, n], rows added in order. Rounded rows of d are only for bf16 products.
template <class T>
struct OuterProduct {
  T* w;
  std::int64_t ldw;
  MatrixRows<T> d;
  const T* x;
  std::int64_t ldx;
  std::int64_t m, n;
};

/// The number of elements of a packed matrix of k rows: whole pairs of rows, as bf16 products read them.
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
  /// A single row is computed from its last columns to its first. If steps alternate, each starts with the end
  /// of the matrix, which the previous step left in the cache.
  bool descending = false;
  /// Memory to bring into the second-level cache during the product, one line at a time: a product of several
  /// rows leaves the memory bus idle. A single row prefetches nothing.
  const Piece* prefetched = nullptr;
  std::int64_t prefetched_count = 0;
  std::int64_t first_row = 0;  ///< the row of `out` for the first row of the operands
};

/// w[i * stride] += sum over rows of a(row, i) factor[row * ldf], i < n, rows added in order: a column (or row)
/// of a weight gradient. Rows of a are padded, and its whole lanes are aligned to 64 bytes (32 if rounded).
template <class T>
struct ScaledSum {
  T* w;
  std::int64_t stride, n;
  MatrixRows<T> a;
  const T* factor;
  std::int64_t ldf;  ///< 0: the same factor for all rows
};

/// Updates the traces, the derivatives of up to kMostStates states with respect to a packed matrix [k x columns],
/// by one step, and adds their contributions to the matrix's gradient. Columns have separate states: element
/// (j, i) of trace s becomes
///
///     e_s(j, i) = sum over r of carry[s * states + r][i] e_r(j, i), then + entry[s][i] x[j]
///
/// and w(j, i) increases by before[s][i] e_s(j, i) with the old traces, credit[s][i] e_s(j, i) with the new ones,
/// and direct[i] x[j]. Vectors have `columns` elements, a multiple of kLane; traces are packed like the matrix.
/// All of `before`, and `direct`, may be null. Without states, `backward` [k] receives the sum over i of
/// w(j, i) direct[i] for the matrix before the update, and `scratch` has kScratch k elements.
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

/// The kernels of one SIMD level for one scalar type. The sequence op, the stream, and the outer tape use the
/// same table.
template <class T>
struct Kernels {
  SimdLevel level;
  bool fused;  ///< whether a multiply-add is rounded once
  /// The operand format of `product` and `add_outer_products`. Nothing else depends on it.
  ProductFormat products;
  ElementKernel<T> element[static_cast<int>(ElementOp::count)];

  /// Packs a k x columns matrix for `product`; `packed` has packed_elements, 64-byte aligned. b(i, j) is b[i *
  /// row_stride + j * column_stride]; columns beyond `columns` are zero.
  void (*pack)(T* packed, const T* b, std::int64_t k, std::int64_t columns, std::int64_t row_stride,
               std::int64_t column_stride);
  /// Packs into a larger packed matrix of total_k rows and total_columns columns, starting at column
  /// `first_column` and inner row `first_k` (first_column and total_columns are multiples of kLane): this is
  /// how stacks of matrices are packed, one below the other in order.
  void (*pack_part)(T* packed, std::int64_t total_k, std::int64_t total_columns, std::int64_t first_k,
                    std::int64_t first_column, const T* b, std::int64_t k, std::int64_t columns,
                    std::int64_t row_stride, std::int64_t column_stride);
  void (*product)(const Product<T>& args);

  /// Adds `count` sums over the same number of rows, side by side. No two of them write to the same place.
  void (*add_scaled_sums)(const ScaledSum<T>* sums, std::int64_t count, std::int64_t rows);
  /// out(i, g) = sum of the `size` elements of group g of row i. Element e is added to partial sum e mod kLane
  /// in order, then the partial sums are added pairwise: the same order at every level. Rows are padded(groups
  /// * size) and padded(groups) wide.
  void (*sum_groups)(T* out, const T* a, std::int64_t rows, std::int64_t groups, std::int64_t size);
  /// out(i, g * size + e) = a(i, g), in the same layouts.
  void (*broadcast_groups)(T* out, const T* a, std::int64_t rows, std::int64_t groups, std::int64_t size);
  /// out(i, j) = x[i * ldx] column[j]; if c (same layout as out) is given, c(i, j) is added, rounded as in a
  /// product. Rows of out are `width` wide, a multiple of kLane; out may be c.
  void (*scale_column)(T* out, const T* x, std::int64_t ldx, const T* column, const T* c, std::int64_t rows,
                       std::int64_t width);
  void (*update_traces)(const TraceUpdate<T>& update);
  /// A step of numbers on the grid (grid.h): to = from + sign * round(increment), and view = to in the model's
  /// precision; sign is 1 or -1. The step is exact, so the opposite sign undoes it. A result beyond the grid
  /// becomes NaN, as does every NaN.
  void (*add_on_grid)(T* view, double* to, const double* from, const T* increment, double sign,
                      std::int64_t n);
  /// `save`: out = a rounded to bf16; `restore`: out = a, from an array of such numbers; n elements, whole rows.
  void (*save)(SavedElement<T>* out, const T* a, std::int64_t n);
  void (*restore)(T* out, const SavedElement<T>* a, std::int64_t n);
  /// Adds `count` products over the same number of rows. Consecutive products with the same x share its rounded
  /// copy.
  void (*add_outer_products)(const OuterProduct<T>* products, std::int64_t count, std::int64_t rows);
};

}  // namespace lagtape
