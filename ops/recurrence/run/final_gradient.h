#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/ops/recurrence/memory/extent.h"
#include "lagtape/ops/recurrence/run/row_resets.h"

namespace lagtape::recurrence {

/// dL/d(final window) of one layer on the rows of one slice. The window holds the states of a row's last steps,
/// so each of its gradients enters the backward pass at that state's step.
template <class T>
class FinalGradient {
 public:
  FinalGradient(const StepProgram& program, const LayerSchedule& schedule)
      : program_(program), schedule_(schedule) {}

  /// Starts the backward pass of a slice. `window` holds a tensor for each state of the whole stack, this
  /// layer's starting at first_state and the slice's rows at row0; null: all gradients are zeros. `lengths` are
  /// the rows' own steps; null: all steps.
  void begin(const std::vector<Tensor>* window, std::size_t first_state, std::int64_t row0, std::int64_t rows,
             const std::int64_t* lengths, const Extent& extent, const RowResets<T>& resets);

  // A state receives its gradient with its direct adjoint if the step reads it, otherwise with a lag's adjoint:
  // with a block of steps, or step by step where shared zeros replace adjoints from beyond the end.

  /// Call before the backward pass of steps [n0, n1) of one block.
  void add_after_block(std::int64_t n0, std::int64_t n1, Interpreter<T>& interpreter) const;
  /// Call before and after the backward pass of step n.
  void add_after(std::int64_t n, Interpreter<T>& interpreter) const;
  void end_after(std::int64_t n, Interpreter<T>& interpreter) const;
  /// Adds the gradients with respect to state s at step n, at or before the first, to rows x padded width: if a
  /// row is shorter than the window, the final window still contains part of the initial one.
  void add_before_first(int s, std::int64_t n, T* to) const;

 private:
  bool shows(std::int64_t n) const { return window_ != nullptr && n + 1 >= earliest_; }
  const LayerOps::LaggedRead* lag_of(std::size_t s) const;
  void add(std::size_t s, std::int64_t n, T* to) const;

  const StepProgram& program_;
  const LayerSchedule& schedule_;
  const std::vector<Tensor>* window_ = nullptr;
  std::size_t first_state_ = 0;
  std::int64_t row0_ = 0, rows_ = 0;
  const std::int64_t* lengths_ = nullptr;
  std::vector<std::int64_t> hidden_;  // by row: the step up to which a reset hides states
  std::int64_t first_ = 0, last_ = 0;
  std::int64_t earliest_ = 0;  // the first step that any row's window contains
};

extern template class FinalGradient<float>;
extern template class FinalGradient<double>;

}  // namespace lagtape::recurrence
