#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// Where the states of rows begin again inside their sequences, as at the beginning of an episode.
class Resets {
 public:
  Resets() = default;
  /// `mask` [B, T]: a number other than 0 says that the states of the row are zeros before that step. `lengths` are those
  /// of a batch. Throws InputError for a mask of another size.
  Resets(std::span<const std::uint8_t> mask, const Shape& batch, std::vector<std::int64_t> lengths);

  bool empty() const { return since_.empty(); }
  /// x [B, T, input] with one number more a step: the steps since the last reset, 0 where it is, and more than any lag
  /// where there was none. The numbers that steps of with_resets read.
  Tensor beside(const Tensor& x) const;
  /// x without them.
  Tensor without(const Tensor& x) const;
  /// Sets to zero what windows after each row's own last step have from before its last reset, which later steps must
  /// not read. `states` are those of a window, or their gradients; empty tensors are left.
  void forget(std::vector<Tensor>& states) const;

 private:
  std::int64_t rows_ = 0, steps_ = 0;
  std::vector<std::int64_t> lengths_;
  std::vector<float> since_;  // [B, T]
};

/// The step of a layer with states that begin again: a state is read as zeros at every lag that reaches to the step of the
/// last reset or beyond it. The last number of its input is that of Resets::beside, which it hands on behind its output
/// where `hands_on` says so, for a layer above. Throws InputError for a state on the grid, for trained lags and for a
/// step that reads its index.
StepProgram with_resets(const StepProgram& program, bool hands_on);

/// The same where a column of the input says so: a number above 0 says that states begin again before that step. `n` counts
/// on from the beginning of the sequence.
StepProgram with_reset_column(const StepProgram& program, std::int64_t column);

}  // namespace lagtape
