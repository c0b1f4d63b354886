#pragma once

#include <algorithm>
#include <cstdint>

#include "lagtape/ops/kernels/int8.h"
#include "lagtape/ops/kernels/product.inc.h"
#include "lagtape/ops/kernels/scratch.h"

namespace lagtape {

/// The sums of a group of columns, in plain integers.
template <class S>
struct Int8Integers {
  std::int32_t sum[kLane<float>] = {};

  /// Adds the products of four operand elements, which are 128 too large, with those of each column.
  [[gnu::always_inline]] void add(const std::uint8_t* operand, const std::int8_t* weights) {
    for (std::int64_t c = 0; c < kLane<float>; ++c)
      for (int e = 0; e < 4; ++e) sum[c] += static_cast<std::int32_t>(operand[e]) * weights[4 * c + e];
  }
  [[gnu::always_inline]] void store(float* out, const std::int32_t* corrections, const float* scales,
                                    bool is_nan) const {
    for (std::int64_t c = 0; c < kLane<float>; ++c)
      out[c] = is_nan ? __builtin_nanf("") : static_cast<float>(sum[c] + corrections[c]) * scales[c];
  }
  /// Writes k numbers as bytes, 128 larger than they are. Returns whether one is non-finite.
  static bool quantize(std::uint8_t* to, const float* from, std::int64_t k, float inverse_scale) {
    bool finite = true;
    for (std::int64_t e = 0; e < k; ++e) {
      const float scaled = from[e] * inverse_scale;
      finite = finite && __builtin_isfinite(from[e]);
      const float within = scaled < kInt8Most ? scaled > -kInt8Most ? scaled : -kInt8Most : kInt8Most;
      to[e] = static_cast<std::uint8_t>(static_cast<int>(__builtin_nearbyintf(within)) + 128);
    }
    return !finite;
  }
};

/// Column j of a matrix: its scale, its correction, and its quads in the group of columns.
template <class S>
void int8_pack_column(Int8Matrix& matrix, std::int64_t column, const float* from, std::int64_t k,
                      std::int64_t row_stride) {
  float most = 0;
  bool finite = true;
  for (std::int64_t i = 0; i < k; ++i) {
    const float magnitude = __builtin_fabsf(from[i * row_stride]);
    finite = finite && __builtin_isfinite(magnitude);
    most = magnitude > most ? magnitude : most;
  }
  const float scale = most / kInt8Most;
  std::int8_t* to = matrix.group(column / kLane<float> * kLane<float>) + column % kLane<float> * 4;
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < 4 * matrix.quad_count(); ++i) {
    const float steps = i < k && finite && scale > 0 ? __builtin_nearbyintf(from[i * row_stride] / scale) : 0;
    const auto rounded = static_cast<std::int8_t>(steps > kInt8Most    ? kInt8Most
                                                  : steps < -kInt8Most ? -kInt8Most
                                                                       : steps);
    to[i / 4 * 4 * kLane<float> + i % 4] = rounded;
    sum += rounded;
  }
  matrix.scales()[column] = finite ? scale * (matrix.range() / kInt8Most) : __builtin_nanf("");
  matrix.corrections()[column] = -128 * sum;
}

/// Quantizes only whole matrices of a size that is quantized; only a backward pass, which quantized stacks do
/// not have, reads parts of the inner dimension.
template <class S>
void int8_pack_part(float* packed, std::int64_t total_k, std::int64_t total_columns, std::int64_t first_k,
                    std::int64_t first_column, const float* b, std::int64_t k, std::int64_t columns,
                    std::int64_t row_stride, std::int64_t column_stride) {
  if (!takes_int8(total_k, total_columns) || k != total_k)
    return pack_part<S>(packed, total_k, total_columns, first_k, first_column, b, k, columns, row_stride,
                        column_stride);
  Int8Matrix matrix(packed, total_k, total_columns);
  for (std::int64_t j = 0; j < padded<float>(columns); ++j)
    int8_pack_column<S>(matrix, first_column + j, b + j * column_stride, j < columns ? k : 0, row_stride);
}

template <class S>
void int8_pack(float* packed, const float* b, std::int64_t k, std::int64_t columns, std::int64_t row_stride,
               std::int64_t column_stride) {
  int8_pack_part<S>(packed, k, padded<float>(columns), 0, 0, b, k, columns, row_stride, column_stride);
}

/// Rows and groups of columns of a tile.
template <class Sums, int R, int C>
void int8_tile(const Product<float>& product, const Int8Matrix& matrix, const std::uint8_t* operand,
               std::int64_t stride, const bool* is_nan, std::int64_t row, std::int64_t column) {
  Sums sums[R][C];
  const std::int8_t* weights = matrix.group(column);
  const std::int64_t group = kLane<float> * 4 * matrix.quad_count();
  for (std::int64_t q = 0; q < matrix.quad_count(); ++q)
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c)
        sums[r][c].add(operand + (row + r) * stride + 4 * q, weights + c * group + q * 4 * kLane<float>);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      const std::int64_t j = column + c * kLane<float>;
      float* out =
          product.out[j / kLane<float>] + (product.first_row + row + r) * product.ldc[j / kLane<float>];
      sums[r][c].store(out, matrix.corrections() + j, matrix.scales() + j, is_nan[row + r]);
    }
}

/// Rows whose operands are quantized at a time, and their bytes on the stack; longer rows are quantized
/// elsewhere.
inline constexpr std::int64_t kInt8Rows = 16, kInt8Bytes = 8192;

template <class S, class Sums>
void int8_product(const Product<float>& product) {
  std::int64_t k = 0;
  for (std::int64_t o = 0; o < product.operand_count; ++o) k += product.operands[o].k;
  if (!takes_int8(k, product.columns)) return multiply_packed<S>(product);
  const Int8Matrix matrix(product.packed, k, product.columns);
  const std::int64_t stride = padded<float>(matrix.quad_count()) * 4;
  alignas(64) std::uint8_t few[kInt8Bytes];
  auto* const bytes =
      stride <= kInt8Bytes ? few : static_cast<std::uint8_t*>(kernel_scratch(kInt8Rows * stride));
  const std::int64_t most = stride <= kInt8Bytes ? std::min(kInt8Rows, kInt8Bytes / stride) : kInt8Rows;
  for (std::int64_t first = 0; first < product.rows; first += most) {
    const std::int64_t rows = std::min(product.rows - first, most);
    Product<float> part = product;
    part.first_row = product.first_row + first;
    bool is_nan[kInt8Rows];
    for (std::int64_t r = 0; r < rows; ++r) {
      std::uint8_t* to = bytes + r * stride;
      is_nan[r] = false;
      for (std::int64_t o = 0; o < product.operand_count; ++o) {
        const ProductOperand<float>& from = product.operands[o];
        is_nan[r] |= Sums::quantize(to, from.a + (first + r) * from.lda, from.k, matrix.inverse_scale());
        to += from.k;
      }
    }
    std::int64_t row = 0;
    const auto for_columns = [&](auto wide, auto narrow) {
      std::int64_t j = 0;
      for (; j + 4 * kLane<float> <= product.columns; j += 4 * kLane<float>)
        wide(part, matrix, bytes, stride, is_nan, row, j);
      for (; j < product.columns; j += kLane<float>) narrow(part, matrix, bytes, stride, is_nan, row, j);
    };
    for (; row + 4 <= rows; row += 4) for_columns(&int8_tile<Sums, 4, 4>, &int8_tile<Sums, 4, 1>);
    for (; row < rows; ++row) for_columns(&int8_tile<Sums, 1, 4>, &int8_tile<Sums, 1, 1>);
  }
}

/// Fills a table with the products.
template <class S, class Sums>
constexpr void fill_int8_products(Kernels<float>& table) {
  table.products = ProductFormat::int8;
  table.pack = &int8_pack<S>;
  table.pack_part = &int8_pack_part<S>;
  table.product = &int8_product<S, Sums>;
}

}  // namespace lagtape
