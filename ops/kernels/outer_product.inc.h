#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/kernels.h"
#include "lagtape/ops/kernels/product.inc.h"

namespace lagtape {

/// R columns of d by C vectors of x, in registers over all rows; w is R x C vectors of row stride ldw.
template <class S, int R, int C>
void outer_tile(typename S::Scalar* w, std::int64_t ldw, const typename S::Scalar* d, std::int64_t ldd,
                const typename S::Scalar* x, std::int64_t ldx, std::int64_t rows) {
  using V = typename S::Vector;
  V sum[R][C];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int c = 0; c < C; ++c) sum[r][c] = V::load_unaligned(w + r * ldw + c * S::kSize);
  }
  for (std::int64_t i = 0; i < rows; ++i, d += ldd, x += ldx) {
    V right[C];
#pragma GCC unroll 2
    for (int c = 0; c < C; ++c) right[c] = V::load_unaligned(x + c * S::kSize);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const V left(d[r]);
#pragma GCC unroll 2
      for (int c = 0; c < C; ++c) sum[r][c] = S::fma(left, right[c], sum[r][c]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int c = 0; c < C; ++c) sum[r][c].store_unaligned(w + r * ldw + c * S::kSize);
  }
}

template <class T>
using OuterTile = void (*)(T*, std::int64_t, const T*, std::int64_t, const T*, std::int64_t, std::int64_t);

template <class S>
struct OuterTiles {
  OuterTile<typename S::Scalar> one[kTileRows<S> + 1] = {}, two[kTileRows<S> + 1] = {};

  constexpr OuterTiles() { fill<1>(); }

  template <int R>
  constexpr void fill() {
    if constexpr (R <= kTileRows<S>) {
      one[R] = &outer_tile<S, R, 1>;
      two[R] = &outer_tile<S, R, 2>;
      fill<R + 1>();
    }
  }
};

template <class S>
inline constexpr OuterTiles<S> kOuterTiles{};

/// One panel of `width` <= 2 vectors columns of x. w has any strides: a tile that is not whole vectors side
/// by side goes through a copy.
template <class S>
void outer_panel(typename S::Scalar* w, std::int64_t row_stride, std::int64_t column_stride,
                 std::int64_t width, const typename S::Scalar* d, std::int64_t ldd,
                 const typename S::Scalar* x, std::int64_t ldx, std::int64_t rows, std::int64_t m) {
  using T = typename S::Scalar;
  const auto* tiles = width <= S::kSize ? kOuterTiles<S>.one : kOuterTiles<S>.two;
  const bool in_place = column_stride == 1 && width % S::kSize == 0;
  std::int64_t tiles_left = (m + kTileRows<S> - 1) / kTileRows<S>;
  for (std::int64_t i = 0; i < m; --tiles_left) {
    const std::int64_t height = (m - i + tiles_left - 1) / tiles_left;
    T* to = w + i * row_stride;
    if (in_place) {
      tiles[height](to, row_stride, d + i, ldd, x, ldx, rows);
    } else {
      alignas(64) T copy[kTileRows<S> * kPanel<S>] = {};
      for (std::int64_t r = 0; r < height; ++r) {
        for (std::int64_t j = 0; j < width; ++j)
          copy[r * kPanel<S> + j] = to[r * row_stride + j * column_stride];
      }
      tiles[height](copy, kPanel<S>, d + i, ldd, x, ldx, rows);
      for (std::int64_t r = 0; r < height; ++r) {
        for (std::int64_t j = 0; j < width; ++j)
          to[r * row_stride + j * column_stride] = copy[r * kPanel<S> + j];
      }
    }
    i += height;
  }
}

/// w(i, j) += sum over rows of d(row, i) x(row, j). Rows are taken in blocks that stay in the first-level
/// cache; a last panel that is not whole vectors is copied, padded with zeros.
template <class S>
void outer_blocks(typename S::Scalar* w, std::int64_t row_stride, std::int64_t column_stride,
                  const typename S::Scalar* d, std::int64_t ldd, const typename S::Scalar* x,
                  std::int64_t ldx, std::int64_t rows, std::int64_t m, std::int64_t n) {
  using T = typename S::Scalar;
  constexpr std::int64_t block = 128;
  for (std::int64_t row = 0; row < rows; row += block) {
    const std::int64_t count = rows - row < block ? rows - row : block;
    const T* d_block = d + row * ldd;
    const T* x_block = x + row * ldx;
    std::int64_t j = 0;
    for (; j < n; j += kPanel<S>) {
      const std::int64_t width = n - j < kPanel<S> ? n - j : kPanel<S>;
      T* to = w + j * column_stride;
      if (width % S::kSize == 0) {
        outer_panel<S>(to, row_stride, column_stride, width, d_block, ldd, x_block + j, ldx, count, m);
      } else {
        alignas(64) T copy[block * kPanel<S>];
        for (std::int64_t i = 0; i < count; ++i) {
          for (std::int64_t c = 0; c < kPanel<S>; ++c) {
            copy[i * kPanel<S> + c] = c < width ? x_block[i * ldx + j + c] : T(0);
          }
        }
        outer_panel<S>(to, row_stride, column_stride, width, d_block, ldd, copy, kPanel<S>, count, m);
      }
    }
  }
}

/// The longer side goes along the vectors when the other would leave most of a vector empty; the sums are the
/// same.
template <class S>
void add_outer_products(typename S::Scalar* w, std::int64_t ldw, const typename S::Scalar* d,
                        std::int64_t ldd, const typename S::Scalar* x, std::int64_t ldx, std::int64_t rows,
                        std::int64_t m, std::int64_t n) {
  if (2 * n <= S::kSize && m > n) {
    outer_blocks<S>(w, 1, ldw, x, ldx, d, ldd, rows, n, m);
  } else {
    outer_blocks<S>(w, ldw, 1, d, ldd, x, ldx, rows, m, n);
  }
}

}  // namespace lagtape
