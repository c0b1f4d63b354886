#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "lagtape/ops/kernels/kernel_table.h"
#include "lagtape/ops/kernels/prefetcher.h"

namespace lagtape {

// A packed matrix is a sequence of panels, each two vectors of columns wide (the last may be one vector wide);
// a panel holds its k rows in order. A tile is R rows by C vectors of the result, accumulated in registers over
// the whole inner dimension in one sweep.

template <class S>
inline constexpr int kPanel = 2 * S::kSize;

/// Rows of a tile, chosen so that its accumulators and operands fit in the registers (unfused, a product needs
/// one too).
template <class S>
inline constexpr int kTileRows = S::kRegisters == 32 ? 14
                                 : S::kFused         ? 6
                                                     : 5;

/// Vectors of columns of a tile: more for few rows, whose fmas would otherwise wait for one another.
template <class S>
constexpr int tile_vectors(int rows) {
  if (rows > 3) return 2;
  if (S::kRegisters == 32) return 4;
  return rows == 1 ? 8 : rows == 2 ? 4 : 2;
}

template <class S>
void pack_part(typename S::Scalar* packed, std::int64_t total_k, std::int64_t total_columns,
               std::int64_t first_k, std::int64_t first_column, const typename S::Scalar* b, std::int64_t k,
               std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
  using V = typename S::Vector;
  using T = typename S::Scalar;
  constexpr std::int64_t panel = kPanel<S>;
  for (std::int64_t j = 0; j < padded<T>(columns); j += S::kSize) {
    const std::int64_t column = first_column + j;
    const std::int64_t start = column / panel * panel;
    const std::int64_t step = total_columns - start < panel ? total_columns - start : panel;
    T* to = packed + start * total_k + first_k * step + (column - start);
    const T* from = b + j * column_stride;
    if (column_stride == 1 && j + S::kSize <= columns) {
      for (std::int64_t i = 0; i < k; ++i)
        V::load_unaligned(from + i * row_stride).store_aligned(to + i * step);
    } else {
      for (std::int64_t c = 0; c < S::kSize; ++c) {
        for (std::int64_t i = 0; i < k; ++i) {
          to[i * step + c] = j + c < columns ? from[i * row_stride + c * column_stride] : T(0);
        }
      }
    }
  }
}

template <class S>
void pack(typename S::Scalar* packed, const typename S::Scalar* b, std::int64_t k, std::int64_t columns,
          std::int64_t row_stride, std::int64_t column_stride) {
  pack_part<S>(packed, k, padded<typename S::Scalar>(columns), 0, 0, b, k, columns, row_stride,
               column_stride);
}

/// Inner steps per prefetcher turn. Its prefetch is one more load in a loop that is not limited by loads; stops
/// with their own loop and branches took as long as the prefetching.
inline constexpr std::int64_t kPrefetchEvery = 2;

/// The result's R rows starting at `row` and C vectors of columns starting at `column`; `b` is the first of
/// their panels.
template <class S, int R, int C, bool kPrefetches = false>
void product_tile(const Product<typename S::Scalar>& product, const typename S::Scalar* b,
                  std::int64_t panel_size, std::int64_t row, std::int64_t column, Prefetcher* prefetcher) {
  using V = typename S::Vector;
  using T = typename S::Scalar;
  constexpr std::int64_t step = C == 1 ? S::kSize : kPanel<S>;
  V sum[R][C];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) sum[r][c] = V(T(0));
  }
  for (std::int64_t o = 0; o < product.operand_count; ++o) {
    const std::int64_t k = product.operands[o].k, lda = product.operands[o].lda;
    // One pointer per three rows: with one for each row there are not enough registers.
    constexpr int kPointers = (R + 2) / 3;
    const T* a[kPointers];
#pragma GCC unroll 8
    for (int g = 0; g < kPointers; ++g) a[g] = product.operands[o].a + (row + 3 * g) * lda;
    const auto multiply = [&](int i) {
      V right[C];
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c)
        right[c] = V::load_aligned(b + i * step + c / 2 * panel_size + c % 2 * S::kSize);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const V left(a[r / 3][r % 3 * lda + i]);
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) sum[r][c] = S::fma(left, right[c], sum[r][c]);
      }
    };
    const auto advance = [&](std::int64_t steps) {
      b += steps * step;
#pragma GCC unroll 8
      for (int g = 0; g < kPointers; ++g) a[g] += steps;
    };
    std::int64_t left_k = k;
    if constexpr (kPrefetches) {
      const std::int64_t turns = k / kPrefetchEvery;
      Prefetcher::Span prefetched = turns > 0 ? prefetcher->next(turns, b) : Prefetcher::Span();
      for (std::int64_t turn = 0; turn < turns; ++turn) {
        __builtin_prefetch(reinterpret_cast<const void*>(prefetched.at), 0, 2);
        prefetched.at += prefetched.step;
#pragma GCC unroll 4
        for (int i = 0; i < kPrefetchEvery; ++i) multiply(i);
        advance(kPrefetchEvery);
      }
      left_k %= kPrefetchEvery;
    }
    for (; left_k > 0; --left_k) {
      multiply(0);
      advance(1);
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c) {
    const auto j = static_cast<std::size_t>(column + c * S::kSize);
    const std::int64_t ldc = product.ldc[j / kLane<T>];
    T* out = product.out[j / kLane<T>] + (product.first_row + row) * ldc + j % kLane<T>;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) sum[r][c].store_aligned(out + r * ldc);
  }
}

template <class T>
using ProductTile = void (*)(const Product<T>&, const T*, std::int64_t, std::int64_t, std::int64_t,
                             Prefetcher*);

/// The tiles, by number of rows: wide tiles for few rows, the same with prefetching, tiles of two vectors, and
/// tiles of one.
template <class S>
struct ProductTiles {
  ProductTile<typename S::Scalar> wide[kTileRows<S> + 1] = {}, prefetching[kTileRows<S> + 1] = {},
                                                      two[kTileRows<S> + 1] = {}, one[kTileRows<S> + 1] = {};

  constexpr ProductTiles() { fill<1>(); }

  template <int R>
  constexpr void fill() {
    if constexpr (R <= kTileRows<S>) {
      wide[R] = &product_tile<S, R, tile_vectors<S>(R)>;
      prefetching[R] = &product_tile<S, R, tile_vectors<S>(R), true>;
      two[R] = &product_tile<S, R, 2>;
      one[R] = &product_tile<S, R, 1>;
      fill<R + 1>();
    }
  }
};

template <class S>
inline constexpr ProductTiles<S> kProductTiles{};

/// One-row tiles 1, 2, 4, ... vectors wide, up to the widest tile.
template <class S>
inline constexpr ProductTile<typename S::Scalar> kRowTiles[] = {
    &product_tile<S, 1, 1>, &product_tile<S, 1, 2>, &product_tile<S, 1, 4>,
    &product_tile<S, 1, tile_vectors<S>(1)>};

/// Runs wide tiles, then the rest in powers of two; or the same tiles from last to first.
template <class S>
void multiply_row(const Product<typename S::Scalar>& product, std::int64_t total_k) {
  constexpr std::uint64_t wide = tile_vectors<S>(1);
  for (std::uint64_t left = product.columns / S::kSize, done = 0; left > 0;) {
    const std::uint64_t size =
        product.descending ? std::min(wide, left & -left) : std::bit_floor(std::min(wide, left));
    left -= size;
    const auto column = static_cast<std::int64_t>((product.descending ? left : done) * S::kSize);
    kRowTiles<S>[std::countr_zero(size)](product, product.packed + column * total_k, kPanel<S> * total_k, 0,
                                         column, nullptr);
    done += size;
  }
}

/// A panel stays in the cache while all row tiles pass over it. Rows are divided almost equally.
template <class S>
void multiply_packed(const Product<typename S::Scalar>& product) {
  const ProductTiles<S>& tiles = kProductTiles<S>;
  std::int64_t total_k = 0;
  for (std::int64_t o = 0; o < product.operand_count; ++o) total_k += product.operands[o].k;
  if (product.rows == 1) return multiply_row<S>(product, total_k);
  const std::int64_t wide = product.rows <= 3 ? tile_vectors<S>(static_cast<int>(product.rows)) : 2;
  const std::int64_t tile_count = (product.rows + kTileRows<S> - 1) / kTileRows<S>;
  const std::int64_t tall_count = tile_count == 0 ? 0 : product.rows % tile_count;
  const std::int64_t height = tile_count == 0 ? 0 : product.rows / tile_count;
  std::optional<Prefetcher> prefetcher;
  if (product.prefetched_count > 0) {
    const std::int64_t panels = product.columns / (wide * S::kSize);  // narrower ones do not prefetch
    prefetcher.emplace(product.prefetched, product.prefetched_count,
                       tile_count * panels * product.operand_count);
  }

  for (std::int64_t column = 0; column < product.columns;) {
    const std::int64_t vectors_left = (product.columns - column) / S::kSize;
    const std::int64_t vectors = vectors_left >= wide ? wide : vectors_left >= 2 ? 2 : 1;
    const auto* tile = prefetcher && vectors == wide ? tiles.prefetching
                       : vectors == 1                ? tiles.one
                       : vectors == 2                ? tiles.two
                                                     : tiles.wide;
    const typename S::Scalar* b = product.packed + column * total_k;
    std::int64_t row = 0;
    for (std::int64_t t = 0; t < tile_count; ++t) {
      const std::int64_t rows = t < tall_count ? height + 1 : height;
      tile[rows](product, b, kPanel<S> * total_k, row, column, prefetcher ? &*prefetcher : nullptr);
      row += rows;
    }
    column += vectors * S::kSize;
  }
}

}  // namespace lagtape
