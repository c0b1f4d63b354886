#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lagtape/ops/recurrence/oracle/unroll.h"

namespace lagtape {

/// One layer over the steps 0 .. S-1 of one sequence on the unrolled tape, in f64: once forward, then backward
/// from any derivatives, for all of its states at every step. It is unrolled in stretches of time, so beyond
/// inputs and outputs it only needs memory for one stretch and the windows between stretches.
class LayerOverTime {
 public:
  /// x: [S, input]; `initial` contains a window for each state, [history + 1, 1, width]; `first_step` is the
  /// absolute index of step 0. A stretch uses about `bytes` if the backward pass has `rows` rows.
  LayerOverTime(StepProgram program, std::vector<Tensor> weights, Tensor x, std::vector<Tensor> initial,
                std::int64_t first_step, std::int64_t rows, std::int64_t bytes = std::int64_t{64} << 20);

  const StepProgram& program() const { return stack_.layers[0]; }
  std::int64_t steps() const { return x_.size(0); }

  /// Returns the outputs, [S, width]. Calls `see` for every step, in order.
  using SeeStep = std::function<void(std::int64_t step, const UnrollTrace::Step& values)>;
  Tensor forward(const SeeStep& see);

  /// The derivatives at which the backward pass starts, for P quantities at a time: with respect to the outputs
  /// [P, S, width] (empty: zeros), and to the states after the last step, one tensor [P, width] for each (none:
  /// zeros).
  struct Seeds {
    std::int64_t rows = 1;
    Tensor outputs = {};
    std::vector<Tensor> states = {};
  };
  /// Must follow `forward`. Calls `see` from the last step to the first with the derivatives with respect to
  /// the states after each step, one tensor [P, width] for each state; they are total derivatives
  /// (UnrollTrace). Returns the derivatives with respect to x, [P, S, input], if `input_wanted`.
  using SeeGradient = std::function<void(std::int64_t step, std::span<const Tensor> of_states)>;
  Tensor backward(const Seeds& seeds, const SeeGradient& see, bool input_wanted);

  /// The bytes of the windows between stretches.
  static std::int64_t boundary_bytes(const StepProgram& program, std::int64_t steps, std::int64_t rows,
                                     std::int64_t bytes = std::int64_t{64} << 20);

 private:
  SequenceBatch stretch(std::int64_t first, std::int64_t rows) const;

  StackDefinition stack_;
  std::vector<Tensor> weights_;
  Tensor x_;
  std::int64_t first_step_, stretch_;
  std::vector<std::vector<Tensor>> windows_;  // at the start of each stretch
};

}  // namespace lagtape
