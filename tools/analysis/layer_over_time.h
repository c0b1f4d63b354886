#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lagtape/ops/recurrence/oracle/unroll.h"

namespace lagtape {

/// One layer over the steps 0 .. S-1 of one sequence on the unrolled tape, in f64: forward once, and back
/// from whatever derivatives, for all of its states at every step. It is unrolled in stretches of time, so
/// that memory beyond inputs and outputs is one stretch and the windows between stretches.
class LayerOverTime {
 public:
  /// x: [S, input]; `initial` a window a state, [history + 1, 1, width]; `first_step` is the absolute index
  /// of step 0. A stretch takes about `bytes` when the way back has `rows` rows.
  LayerOverTime(StepProgram program, std::vector<Tensor> weights, Tensor x, std::vector<Tensor> initial,
                std::int64_t first_step, std::int64_t rows, std::int64_t bytes = std::int64_t{64} << 20);

  const StepProgram& program() const { return stack_.layers[0]; }
  std::int64_t steps() const { return x_.size(0); }

  /// The outputs, [S, width]. Shows every step, in order.
  using SeeStep = std::function<void(std::int64_t step, const UnrollTrace::Step& values)>;
  Tensor forward(const SeeStep& see);

  /// What is differentiated, P of it at a time: its derivatives by the outputs [P, S, width] (empty: zeros)
  /// and, one tensor a state, by the states after the last step [P, width] (none: zeros).
  struct Seeds {
    std::int64_t rows = 1;
    Tensor outputs = {};
    std::vector<Tensor> states = {};
  };
  /// After `forward`: shows, from the last step to the first, the derivatives by the states after each step,
  /// one tensor [P, width] a state. A state counts with all that comes of it (UnrollTrace). Returns the
  /// derivatives by x [P, S, input] if `input_wanted`.
  using SeeGradient = std::function<void(std::int64_t step, std::span<const Tensor> of_states)>;
  Tensor backward(const Seeds& seeds, const SeeGradient& see, bool input_wanted);

  /// Bytes that the windows between stretches take.
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
