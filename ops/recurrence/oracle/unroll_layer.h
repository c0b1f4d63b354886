#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "lagtape/core/tape.h"
#include "lagtape/ops/recurrence/oracle/saved_copies.h"
#include "lagtape/ops/recurrence/oracle/unroll.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape::recurrence {

using Rows = std::vector<bool>;           ///< a flag a row of the batch
using Steps = std::vector<std::int64_t>;  ///< the absolute step that each row is at

/// The rows of a that are chosen, the rows of b elsewhere. No arithmetic touches the other rows.
Var select(const Rows& chosen, const Var& a, const Var& b);
Var zeros_like(const Var& x);

/// The arguments that all layers share.
struct UnrollFrame {
  Tape& tape;
  const SequenceBatch& batch;
  Dtype dtype;
  std::int64_t rows;
  ProductFormat products = ProductFormat::scalar;  ///< programs of the layers
  int layers = 0;                                  ///< programs before the read-out
};

/// One program, its weights, and the values of its states from the oldest known to the present. Frame and
/// program must outlive it.
class UnrolledLayer {
 public:
  /// `position` is the layer's in the stack; every step is recorded in `trace`, if there is one.
  UnrolledLayer(const UnrollFrame& frame, const StepProgram& program, int position,
                std::span<const Var> weights, std::vector<UnrollTrace::Step>* trace = nullptr);

  /// The states before the first step: `initial` holds a window a state, or nothing.
  void start(std::span<const Var> initial);
  /// One step of the rows that still run: the output for x [B, input], [B, width].
  Var step(const Var& x, const Steps& steps, const Rows& running);
  /// The windows of the states, for every row after its own last step.
  void append_windows(const std::vector<std::int64_t>& lengths, std::vector<Var>& windows) const;

 private:
  const Var& past(int state, std::int64_t lag) const { return past_[state][past_[state].size() - 1 - lag]; }
  Var evaluate(int id, const Var& x, const Steps& steps) const;
  Var weight(int index) const;
  Var element(int id) const;
  Var set_apart(const Var& state) const;
  void find_seen_by_output();
  void let_output_see_states(const Var& x, const Steps& steps);
  Var start_on_grid(std::size_t s, const Var* initial);
  Var step_on_grid(int s);
  Var step_index(const Instruction& v, const Steps& steps) const;
  Var draw(const Instruction& v, const Steps& steps) const;
  Var product(const Instruction& v) const;
  Var real_lag(const Instruction& v, const Var& tau) const;

  const UnrollFrame& frame_;
  const StepProgram& program_;
  int position_;
  std::vector<Var> weights_;            // vectors and scalars with an axis of one row in front
  std::vector<std::vector<Var>> past_;  // by state: its values, the present last
  std::vector<std::vector<Tensor>>
      grid_;                          // by state on the grid: in f64 the numbers that past_ holds rounded
  std::map<int, int> grid_states_;    // next value -> its state
  std::vector<Var> values_;           // values of the step being run
  std::optional<SavedCopies> saved_;  // the copies of these values, where saved values are rounded

  std::vector<UnrollTrace::Step>* trace_;
  Var anchor_;                       // makes traced states require gradients
  std::vector<int> seen_by_output_;  // values between next values and the output
};

}  // namespace lagtape::recurrence
