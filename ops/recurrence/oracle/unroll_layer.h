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

using Rows = std::vector<bool>;           ///< one flag per batch row
using Steps = std::vector<std::int64_t>;  ///< the absolute step of each row

/// The chosen rows of a, and the other rows of b. No arithmetic touches the other rows.
Var select(const Rows& chosen, const Var& a, const Var& b);
Var zeros_like(const Var& x);

/// The arguments shared by all layers.
struct UnrollFrame {
  Tape& tape;
  const SequenceBatch& batch;
  Dtype dtype;
  std::int64_t rows;
  ProductFormat products = ProductFormat::scalar;  ///< programs of the layers
  int layers = 0;                                  ///< programs before the read-out
};

/// One program, its weights, and the values of its states from the oldest known to the current one. Frame and
/// program must outlive it.
class UnrolledLayer {
 public:
  /// `position` is the layer's position in the stack; every step is recorded in `trace`, if given.
  UnrolledLayer(const UnrollFrame& frame, const StepProgram& program, int position,
                std::span<const Var> weights, std::vector<UnrollTrace::Step>* trace = nullptr);

  /// The states before the first step: `initial` holds one window per state, or nothing.
  void start(std::span<const Var> initial);
  /// One step of the rows that are still running: the output [B, width] for x [B, input].
  Var step(const Var& x, const Steps& steps, const Rows& running);
  /// The state windows, for every row after its own last step.
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
  std::vector<Var> weights_;            // vectors and scalars with a leading axis of one row
  std::vector<std::vector<Var>> past_;  // by state: its values, the current one last
  std::vector<std::vector<Tensor>>
      grid_;                          // by state on the grid: the numbers in f64 that past_ holds rounded
  std::map<int, int> grid_states_;    // next value -> its state
  std::vector<Var> values_;           // values of the current step
  std::optional<SavedCopies> saved_;  // the copies of these values, if saved values are rounded

  std::vector<UnrollTrace::Step>* trace_;
  Var anchor_;                       // makes traced states require gradients
  std::vector<int> seen_by_output_;  // values between next values and the output
};

}  // namespace lagtape::recurrence
