#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/kernel_table.h"
#include "lagtape/ops/kernels/product.inc.h"

namespace lagtape {

/// Rows that are prefetched ahead. They are a power of two apart, so only a few of them fit in the first-level
/// cache at a time, and every tile fetches them again.
inline constexpr std::int64_t kOuterAhead = 8;

/// R columns of d by C vectors of x, in registers over all rows; w is R x C vectors of row stride ldw.
template <class S, int R, int C>
void outer_tile(typename S::Scalar* w, std::int64_t ldw, const typename S::Scalar* d, std::int64_t ldd,
                const typename S::Scalar* x, std::int64_t ldx, std::int64_t rows) {
  using V = typename S::Vector;
  static_assert(R * C <= 2 * kTileRows<S>);
  V sum[R][C];
#pragma GCC unroll 32
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) sum[r][c] = V::load_unaligned(w + r * ldw + c * S::kSize);
  }
  for (std::int64_t i = 0; i < rows; ++i, d += ldd, x += ldx) {
    V right[C];
    __builtin_prefetch(d + kOuterAhead * ldd);
    __builtin_prefetch(d + kOuterAhead * ldd + R - 1);  // the columns may span two lines
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) __builtin_prefetch(x + kOuterAhead * ldx + c * S::kSize);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) right[c] = V::load_unaligned(x + c * S::kSize);
#pragma GCC unroll 32
    for (int r = 0; r < R; ++r) {
      const V left(d[r]);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) sum[r][c] = S::fma(left, right[c], sum[r][c]);
    }
  }
#pragma GCC unroll 32
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) sum[r][c].store_unaligned(w + r * ldw + c * S::kSize);
  }
}

template <class T>
using OuterTile = void (*)(T*, std::int64_t, const T*, std::int64_t, const T*, std::int64_t, std::int64_t);

/// Rows of a tile that is one vector wide: as many sums as in a tile of two vectors, so that none has to wait.
template <class S>
inline constexpr int kTallRows = 2 * kTileRows<S>;

/// The tiles, by number of rows: wide tiles for few rows, tiles of two vectors, and tiles of one.
template <class S>
struct OuterTiles {
  OuterTile<typename S::Scalar> wide[kTileRows<S> + 1] = {}, two[kTileRows<S> + 1] = {},
                                                    one[kTallRows<S> + 1] = {};

  constexpr OuterTiles() { fill<1>(); }

  template <int R>
  constexpr void fill() {
    if constexpr (R <= kTileRows<S>) {
      wide[R] = &outer_tile<S, R, tile_vectors<S>(R)>;
      two[R] = &outer_tile<S, R, 2>;
    }
    if constexpr (R <= kTallRows<S>) {
      one[R] = &outer_tile<S, R, 1>;
      fill<R + 1>();
    }
  }
};

template <class S>
inline constexpr OuterTiles<S> kOuterTiles{};

/// The size of a block: rows, and columns of d.
inline constexpr std::int64_t kOuterRows = 256;
inline constexpr std::int64_t kOuterColumns = 128;

/// Adds the tiles of one panel of x, `vectors` vectors wide, of which `width` columns exist. If w does not hold
/// whole vectors side by side, tiles go through a copy.
template <class S>
void outer_panel(typename S::Scalar* w, std::int64_t row_stride, std::int64_t column_stride,
                 std::int64_t vectors, std::int64_t width, const typename S::Scalar* d, std::int64_t ldd,
                 const typename S::Scalar* x, std::int64_t ldx, std::int64_t rows, std::int64_t m) {
  using T = typename S::Scalar;
  const auto* tile = vectors == 1   ? kOuterTiles<S>.one
                     : vectors == 2 ? kOuterTiles<S>.two
                                    : kOuterTiles<S>.wide;
  const bool in_place = column_stride == 1 && width == vectors * S::kSize;
  const std::int64_t highest = vectors == 1 ? kTallRows<S> : kTileRows<S>;
  std::int64_t tiles_left = (m + highest - 1) / highest;
  for (std::int64_t i = 0; i < m; --tiles_left) {
    const std::int64_t height = (m - i + tiles_left - 1) / tiles_left;
    T* to = w + i * row_stride;
    if (in_place) {
      tile[height](to, row_stride, d + i, ldd, x, ldx, rows);
    } else {
      alignas(64) T copy[kTileRows<S> * kPanel<S>];
      const std::int64_t ldcopy = vectors * S::kSize;
      for (std::int64_t r = 0; r < height; ++r) {
        for (std::int64_t j = 0; j < ldcopy; ++j) {
          copy[r * ldcopy + j] = j < width ? to[r * row_stride + j * column_stride] : T(0);
        }
      }
      tile[height](copy, ldcopy, d + i, ldd, x, ldx, rows);
      for (std::int64_t r = 0; r < height; ++r) {
        for (std::int64_t j = 0; j < width; ++j)
          to[r * row_stride + j * column_stride] = copy[r * ldcopy + j];
      }
    }
    i += height;
  }
}

/// Adds the panels of all columns of x. A last panel that is not whole vectors is copied, padded with zeros.
template <class S>
void outer_block(typename S::Scalar* w, std::int64_t row_stride, std::int64_t column_stride,
                 const typename S::Scalar* d, std::int64_t ldd, const typename S::Scalar* x, std::int64_t ldx,
                 std::int64_t rows, std::int64_t m, std::int64_t n) {
  using T = typename S::Scalar;
  const std::int64_t wide = m <= 3 ? tile_vectors<S>(static_cast<int>(m)) : 2;
  for (std::int64_t j = 0; j < n;) {
    const std::int64_t left = n - j;
    const std::int64_t vectors = left >= wide * S::kSize ? wide : left > S::kSize ? 2 : 1;
    const std::int64_t whole = vectors * S::kSize;
    T* to = w + j * column_stride;
    if (left >= whole) {
      outer_panel<S>(to, row_stride, column_stride, vectors, whole, d, ldd, x + j, ldx, rows, m);
    } else {
      alignas(64) T copy[kOuterRows * kPanel<S>];
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t c = 0; c < whole; ++c) copy[i * whole + c] = c < left ? x[i * ldx + j + c] : T(0);
      }
      outer_panel<S>(to, row_stride, column_stride, vectors, left, d, ldd, copy, whole, rows, m);
    }
    j += whole;
  }
}

/// w(i, j) += sum over rows of d(row, i) x(row, j), in blocks that stay in the second-level cache.
template <class S>
void outer_blocks(typename S::Scalar* w, std::int64_t row_stride, std::int64_t column_stride,
                  const typename S::Scalar* d, std::int64_t ldd, const typename S::Scalar* x,
                  std::int64_t ldx, std::int64_t rows, std::int64_t m, std::int64_t n) {
  for (std::int64_t row = 0; row < rows; row += kOuterRows) {
    const std::int64_t count = rows - row < kOuterRows ? rows - row : kOuterRows;
    for (std::int64_t i = 0; i < m; i += kOuterColumns) {
      const std::int64_t height = m - i < kOuterColumns ? m - i : kOuterColumns;
      outer_block<S>(w + i * row_stride, row_stride, column_stride, d + row * ldd + i, ldd, x + row * ldx,
                     ldx, count, height, n);
    }
  }
}

/// The longer side goes along the vectors if the other would leave most of a vector empty; the sums are the
/// same.
template <class S>
void add_outer_product(typename S::Scalar* w, std::int64_t ldw, const typename S::Scalar* d, std::int64_t ldd,
                       const typename S::Scalar* x, std::int64_t ldx, std::int64_t rows, std::int64_t m,
                       std::int64_t n) {
  if (2 * n <= S::kSize && m > n) {
    outer_blocks<S>(w, 1, ldw, x, ldx, d, ldd, rows, n, m);
  } else {
    outer_blocks<S>(w, ldw, 1, d, ldd, x, ldx, rows, m, n);
  }
}

template <class S>
void add_outer_products(const OuterProduct<typename S::Scalar>* products, std::int64_t count,
                        std::int64_t rows) {
  for (const auto* p = products; p != products + count; ++p)
    add_outer_product<S>(p->w, p->ldw, p->d.at, p->d.stride, p->x, p->ldx, rows, p->m, p->n);
}

}  // namespace lagtape
