#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape {

/// A part of a row of x that runs as if it were a row. Its states begin as zeros or with the row's window.
struct RowPiece {
  std::int64_t row = 0, first = 0, steps = 0;
  bool begins = false;  ///< with the row's window
  bool ends = false;    ///< the window after it is the row's
};

/// Rows that run whole in place of their pieces: between two pieces is a step without input, after which the states of the row
/// are set to zeros.
struct Lanes {
  Lanes() = default;
  explicit Lanes(std::span<const RowPiece> pieces);

  std::vector<RowPiece> rows;  ///< the longest first; their steps are those of the pieces and between them
  /// [steps of the longest, rows], the step of x that each runs; -1 between pieces and after the end.
  std::vector<std::int32_t> steps;
  bool empty() const { return rows.empty(); }
};

/// The resets of rows inside their sequences, as at the beginning of an episode. A row runs as the pieces between its
/// resets, beside those of others, so steps need not check whether they read across one.
class Resets {
 public:
  Resets() = default;
  /// `mask` [B, T]: where it is not 0, the states of the row are zeros before that step. `lengths` of the batch. Throws
  /// InputError for a mask of another size.
  Resets(std::span<const std::uint8_t> mask, const Shape& batch, std::span<const std::int64_t> lengths);

  /// The longest first; none without a reset.
  const std::vector<RowPiece>& pieces() const { return pieces_; }
  bool empty() const { return pieces_.empty(); }
  /// The outputs of rows [B, q] from those of pieces [P, q], and likewise the gradients. Outputs of every step are in
  /// place already.
  Tensor of_rows(const Tensor& outputs, ReadAt at) const;
  Tensor of_pieces(const Tensor& gradient, ReadAt at) const;

 private:
  /// The part of a piece's outputs that its row has.
  double share(const RowPiece& piece, ReadAt at) const;

  std::vector<std::int64_t> lengths_;  // [B]
  std::vector<RowPiece> pieces_;
};

/// The step of a layer whose states begin again before steps at which a column of the input is above 0. `n` still
/// counts from the beginning of the sequence. Throws InputError for a state on the grid and for trained lags.
StepProgram with_reset_column(const StepProgram& program, std::int64_t column);

}  // namespace lagtape
