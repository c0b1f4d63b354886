#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lagtape/core/product_format.h"
#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/step/loss_function.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// When the read-out reads the top layer's output: at every step, at a sequence's own last step, at the batch's
/// last step (including padding), or the mean over a sequence's own steps.
enum class ReadAt : std::uint8_t { every_step, last_step, last_padded_step, mean };

bool reads_every_step(ReadAt at);

/// A stack of layers with its read-out and loss: everything that runs in one pass over time.
struct StackDefinition {
  std::vector<StepProgram> layers;     ///< the output of each is the input of the next
  std::optional<StepProgram> readout;  ///< a program without states
  ReadAt at = ReadAt::every_step;
  LossFunction loss = {};
  /// The format of the operands of the layers' products; the read-out's products use unrounded operands.
  /// Products with a matrix of at most two rows or columns that run as element-wise work (derive/layer_ops:
  /// kNarrow) are not affected. In bf16 the backward pass also reads the layers' saved values rounded
  /// (derive/saved_values).
  ProductFormat products = ProductFormat::scalar;

  std::int64_t input_width() const;
  std::int64_t output_width() const;
  /// The number of values in a target: that of the outputs, unless the loss has several outputs for each.
  std::int64_t target_width() const;
};

/// The last values of the states: the only part of the past that the future depends on. One tensor per state,
/// layer by layer in order of declaration, [history + 1, B, width], the oldest value first and the current one
/// last; in f64 for states on the grid, else in the model's precision. The initial history, the state carried
/// by truncated BPTT, and the state of a stream are all windows.
struct Window {
  std::vector<Tensor> states;
};

/// The window before the first step: zeros.
Window zero_window(const std::vector<StepProgram>& layers, std::int64_t batch, Dtype dtype);
/// The shape and precision of a state's tensor in a window.
std::pair<Shape, Dtype> state_window(const StepProgram& layer, int state, std::int64_t batch, Dtype dtype);

/// The key that determines the random draws of a batch, together with step and unit.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::vector<std::int64_t> sequences;  ///< [B], names of the rows; empty: their positions in the batch
};

/// The sequences of a batch, padded to one length T.
struct SequenceBatch {
  Tensor x;                           ///< [B, T, input]
  std::vector<std::int64_t> lengths;  ///< [B], each in 1..T; empty: all T
  Tensor targets;  ///< except for cross_entropy: [B, T, target] (every_step) or [B, target]; NaN: none
  std::vector<std::int32_t> classes;  ///< cross_entropy: [B * T] row by row (every_step) or [B]; -1: none
  std::int64_t first_step = 0;        ///< the absolute index of x's first step, for a carried window
  DrawKey draws;
  bool training = false;  ///< draws are random; otherwise they hold their evaluation values
};

}  // namespace lagtape
