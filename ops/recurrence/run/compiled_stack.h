#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "lagtape/ops/recurrence/run/layer_weights.h"
#include "lagtape/ops/recurrence/schedule/layer_schedule.h"
#include "lagtape/ops/recurrence/step/operand_ranges.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape::recurrence {

/// A stack ready to run: the schedule and packed weights of every layer. Not movable: runners refer to it.
template <class T>
class CompiledStack {
 public:
  /// `compile_stages`: compile element-wise stages to machine code where possible. `forward_only`: no backward
  /// pass will be run, and steps test for resets themselves (step/resets.h).
  CompiledStack(const StackDefinition& stack, bool input_gradient, const Kernels<T>& kernels,
                bool compile_stages, bool forward_only = false);
  CompiledStack(const CompiledStack&) = delete;
  CompiledStack& operator=(const CompiledStack&) = delete;

  /// The step's weights, layer by layer, then the read-out's. `ranges`: for int8 products. Throws InputError if
  /// the weights do not fit.
  void load(std::span<const Tensor> weights, const OperandRanges& ranges = {});

  /// The programs that run over time: the layers, and the read-out if it reads every step.
  std::size_t layers() const { return programs_.size(); }
  const StepProgram& program(std::size_t l) const { return *programs_[l]; }
  const LayerSchedule& schedule(std::size_t l) const { return schedules_[l]; }
  const LayerWeights<T>& weights(std::size_t l) const { return weights_[l]; }
  /// Whether a read-out runs once per sequence; it is then the program after the layers.
  bool has_final_readout() const { return final_readout_; }
  std::size_t programs() const { return programs_.size() + (final_readout_ ? 1 : 0); }
  const StepProgram& final_readout_program() const { return *stack_.readout; }
  const LayerSchedule& final_readout_schedule() const { return schedules_.back(); }
  const LayerWeights<T>& final_readout_weights() const { return weights_.back(); }

  const StackDefinition& stack() const { return stack_; }
  /// The states that a layer has in a window: those of its program, plus the reset count if only the
  /// definition's step tests for resets.
  std::size_t window_states(std::size_t l) const {
    return l < stack_.layers.size() ? stack_.layers[l].states.size() : 0;
  }
  /// The input column that marks resets of a layer's states, if the runner handles them; -1: none.
  std::int64_t reset_column(std::size_t l) const {
    return l < reset_columns_.size() ? reset_columns_[l] : -1;
  }
  /// The kernels of a program; for a layer, in the stack's format.
  const Kernels<T>& kernels(std::size_t program) const {
    return program < stack_.layers.size() ? layer_kernels_ : kernels_;
  }
  std::int64_t weight_count() const { return weight_count_; }

 private:
  const StackDefinition& stack_;
  const Kernels<T>&kernels_, &layer_kernels_;
  bool final_readout_ = false;
  std::vector<const StepProgram*> programs_;
  std::deque<StepProgram> without_resets_;  // of layers that test for them
  std::vector<std::int64_t> reset_columns_;
  std::deque<LayerSchedule> schedules_;  // one per program, the final read-out's last
  std::deque<LayerWeights<T>> weights_;
  std::int64_t weight_count_ = 0;
};

extern template class CompiledStack<float>;
extern template class CompiledStack<double>;

}  // namespace lagtape::recurrence
