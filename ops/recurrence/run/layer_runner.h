#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/ops/recurrence/memory/bump_allocator.h"
#include "lagtape/ops/recurrence/memory/extent.h"
#include "lagtape/ops/recurrence/run/final_gradient.h"
#include "lagtape/ops/recurrence/run/interpreter.h"
#include "lagtape/ops/recurrence/run/layer_states.h"
#include "lagtape/ops/recurrence/run/row_resets.h"
#include "lagtape/ops/recurrence/run/weight_gradient.h"

namespace lagtape::recurrence {

/// One layer on the rows of one slice: its arrays and its passes over a range of steps.
template <class T>
class LayerRunner {
 public:
  LayerRunner(const StepProgram& program, const LayerSchedule& schedule, const LayerWeights<T>& weights,
              const Kernels<T>& kernels);

  /// Allocates the arrays for a slice with that many rows. `below` is the layer whose output is the input;
  /// null: the runner has its own input array. Likewise, `above` is for dL/d(output).
  void lay_out(BumpAllocator<T>& memory, const Extent& extent, std::int64_t rows, LayerRunner* below,
               LayerRunner* above);

  /// Starts a sequence: states as in the window (rows of its tensors starting at row0; null: zeros).
  void begin(const std::vector<Tensor>* window, std::size_t first_state, std::int64_t row0);
  void set_draws(const DrawContext& draws) { interpreter_.set_draws(draws); }
  /// As Interpreter::observe.
  void observe(std::vector<float>* ranges) { interpreter_.observe(ranges); }
  /// Shorter rows keep their states after they end; null: all rows have full length.
  void set_lengths(const std::int64_t* lengths) { states_.set_lengths(lengths); }

  /// As RowResets::begin, for the rows and steps of the slice.
  void set_resets(const std::uint8_t* given, std::int64_t stride, std::int64_t column) {
    resets_.begin(given, stride, column, rows_, states_.lengths(), extent_);
  }
  const RowResets<T>& resets() const { return resets_; }

  /// The states with their windows, through which the future depends on the past.
  const LayerStates<T>& states() const { return states_; }
  LayerStates<T>& states() { return states_; }

  /// Makes room for steps from n on, whose values stay; of earlier steps, only the window at n is kept.
  void enter_interval(std::int64_t n);
  /// Makes room for steps [n0, n1) and moves the window that they need along.
  void enter_forward(std::int64_t n0, std::int64_t n1);
  void forward(std::int64_t n0, std::int64_t n1);
  /// Computes the saved values of [n0, n1) from their states.
  void replay(std::int64_t n0, std::int64_t n1);
  /// Computes the states and saved values of [n0, n1) from the states after them, for a reversible step; call
  /// with the last steps first.
  void undo(std::int64_t n0, std::int64_t n1);

  /// Starts the backward pass of a sequence: adjoints from beyond its end are zero, except those of the final
  /// window (a tensor for each state of the stack, this layer's starting at first_state; null: zeros).
  void begin_backward(const std::vector<Tensor>* final_gradient = nullptr, std::size_t first_state = 0,
                      std::int64_t row0 = 0);
  void enter_backward(std::int64_t n0, std::int64_t n1);
  /// Consumes dL/d(output) of [n0, n1), and adds to the weight gradients, which are dense matrices and padded
  /// vectors, null where not wanted.
  void backward(std::int64_t n0, std::int64_t n1, T* const* gradients, LargeProductFunction large);

  const ArrayView<T>& array(int i) const { return interpreter_.array(i); }
  ArrayView<T>& array(int i) { return interpreter_.array(i); }
  /// The row blocks at a step: rows x padded width.
  T* input(std::int64_t n) const { return interpreter_.array(schedule_.input_array).at(n); }
  T* output(std::int64_t n) const { return interpreter_.at(schedule_.output, n); }
  T* output_adjoint(std::int64_t n) const { return interpreter_.array(schedule_.output_adjoint_array).at(n); }
  T* input_adjoint(std::int64_t n) const { return interpreter_.array(schedule_.input_adjoint_array).at(n); }
  /// Ends the backward pass: adjoints from before the first step are zero. Required before `initial_adjoint`.
  void end_backward();
  /// dL/d(state s at step n) for n at or before the first step: rows x padded width.
  void initial_adjoint(int s, std::int64_t n, T* out);

  const StepProgram& program() const { return program_; }
  const LayerSchedule& schedule() const { return schedule_; }

 private:
  template <class F>
  void for_runs(std::int64_t n0, std::int64_t n1, bool descending, F f);
  template <class F>
  void for_shown_runs(std::int64_t n0, std::int64_t n1, bool descending, F f);
  void enter_run(std::int64_t n);
  void add_gradients(std::int64_t n, std::int64_t rows, T* const* gradients, LargeProductFunction large);
  std::int64_t capacity(const Array& array) const;
  bool lies_on_states(const LayerOps::LaggedRead& read) const {
    return recurrence::lies_on_states(read, schedule_, extent_);
  }
  void share_input();

  const StepProgram& program_;
  const LayerSchedule& schedule_;
  const Kernels<T>& kernels_;
  Interpreter<T> interpreter_;
  LayerStates<T> states_;
  RowResets<T> resets_;
  FinalGradient<T> final_gradient_;
  Extent extent_;
  std::int64_t rows_ = 0;
  LayerRunner* below_ = nullptr;
  LayerRunner* above_ = nullptr;
  std::vector<std::int64_t> capacities_;  // by array: the steps it holds
  // The gradients that are summed over a run.
  std::vector<OuterProduct<T>> products_;
  std::vector<ScaledSum<T>> sums_;
};

extern template class LayerRunner<float>;
extern template class LayerRunner<double>;

}  // namespace lagtape::recurrence
