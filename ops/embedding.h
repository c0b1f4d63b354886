#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lagtape/core/tape.h"
#include "lagtape/core/thread_pool.h"

namespace lagtape {

/// Row i of y is row indices[i] of E; E: [V, d], y: [n, d]. The gradient of E adds the rows of dL/dy in order.
/// Throws InputError with the first index outside 0..V-1 and its position.
Var embedding(const Var& e, std::span<const std::int32_t> indices);

/// The row of a table that each step of a batch reads.
struct TokenRows {
  std::int64_t rows = 0, steps = 0;   ///< B, T
  std::vector<std::int32_t> numbers;  ///< [B * T], row by row; -1: zeros
};

/// The rows that tokens x [B, T, 1] select: whole numbers 0..V-1, and -1 beyond a row's length (no lengths: all
/// T). Throws InputError with the row and step of any other number.
TokenRows token_rows(const Tensor& x, std::span<const std::int64_t> lengths, std::int64_t vocabulary);

/// y[b, t] = E[numbers[b, t]]; E: [V, d], y: [B, T, d].
Tensor look_up(const Tensor& e, const TokenRows& rows, ThreadPool& pool);

/// scale * E[numbers[b, t]] on the tape. The gradient of E adds those of y in the order of (b, t), for any number of
/// threads; only rows that were read are touched.
Var embedding(const Var& e, TokenRows rows, double scale, ThreadPool& pool);

}  // namespace lagtape
