#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/ops/recurrence/run/interpreter.h"

namespace lagtape::recurrence {

/// The states of one layer on the rows of one slice: copies the window at a step, the only part of the past
/// that the future depends on, to and from a window's tensors and checkpoints, and keeps the states of rows
/// that have ended. A state on the grid is stored twice, as doubles and (by `show`) in the model's precision.
template <class T>
class LayerStates {
 public:
  /// The states are in the arrays of `interpreter`. All arguments must outlive them.
  LayerStates(const StepProgram& program, const LayerSchedule& schedule, Interpreter<T>& interpreter)
      : program_(program), schedule_(schedule), interpreter_(interpreter) {}

  void set_rows(std::int64_t rows) { rows_ = rows; }
  /// Shorter rows keep their states after they end; null: all rows have full length.
  void set_lengths(const std::int64_t* lengths) { lengths_ = lengths; }
  const std::int64_t* lengths() const { return lengths_; }

  /// Starts a sequence of `steps` at `first`: states as in the window (rows of its tensors starting at row0;
  /// null: zeros).
  void begin(std::int64_t first, std::int64_t steps, const std::vector<Tensor>* window,
             std::size_t first_state, std::int64_t row0);
  /// Zeroes the states that resets hide in the window, whose last state counts resets: [history + 1, B, 1].
  void hide_in_window(const Tensor& count, std::int64_t row0);
  /// Whether resets hide the states of a window row that are that many steps old.
  static bool is_hidden(const Tensor& count, std::int64_t row, std::int64_t back) {
    const std::int64_t last = count.size(0) - 1, batch = count.size(1);
    return count.at(last * batch + row) - count.at((last - back) * batch + row) >= 0.5;
  }
  /// Moves the values of an array so that the window at step n is at its start.
  void slide(std::size_t array, std::int64_t n);

  /// The window at step n as a checkpoint: its number of elements, and functions that copy it out and in and
  /// return the end of the checkpoint.
  std::int64_t window_elements() const;
  T* save(std::int64_t n, T* to) const;
  const T* restore(std::int64_t n, const T* from);
  /// Copies the window of state s after step n, for row r, into a row of a window's tensor, except for states
  /// up to step `hidden`.
  void write(int s, std::int64_t n, std::int64_t r, Tensor& to, std::int64_t row, std::int64_t hidden) const;

  /// Copy the states of rows that ended before step n across that step: from before it to after it (freeze), or
  /// back (thaw).
  void freeze_finished(std::int64_t n) { copy_finished(n, n, n + 1); }
  void thaw_finished(std::int64_t n) { copy_finished(n, n + 1, n); }
  /// Rounds the states on the grid at step n to the model's precision, if the step reads them.
  void show(std::int64_t n);

 private:
  /// Whether a row ends before the sequence does.
  bool any_ends() const { return shortest_ < steps_; }
  bool on_grid(std::size_t s) const { return schedule_.grid_arrays[s] >= 0; }
  std::int64_t history(std::size_t s) const { return program_.history(static_cast<int>(s)); }
  std::int64_t width(std::size_t s) const { return program_.states[s].shape.width(); }
  std::int64_t stride(std::size_t s) const { return padded<T>(width(s)); }
  double* grid(std::size_t s, std::int64_t n) const { return interpreter_.grid(static_cast<int>(s), n); }
  ArrayView<T>& view(std::size_t s) const { return interpreter_.array(schedule_.state_arrays[s]); }
  void begin_on_grid(std::size_t s, const Tensor* window, std::int64_t row0);
  void show(std::size_t s, std::int64_t n);
  void copy_finished(std::int64_t n, std::int64_t from, std::int64_t to);

  const StepProgram& program_;
  const LayerSchedule& schedule_;
  Interpreter<T>& interpreter_;
  std::int64_t rows_ = 0;
  const std::int64_t* lengths_ = nullptr;
  std::int64_t first_ = 0;
  std::int64_t steps_ = 0, shortest_ = 0;
};

extern template class LayerStates<float>;
extern template class LayerStates<double>;

}  // namespace lagtape::recurrence
