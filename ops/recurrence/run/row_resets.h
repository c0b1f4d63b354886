#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "lagtape/ops/recurrence/memory/extent.h"
#include "lagtape/ops/recurrence/run/interpreter.h"

namespace lagtape::recurrence {

/// The rows of a slice whose states reset within their sequences, for one layer. A reset before step n hides
/// the states of its row up to that of step n from all later steps. Passes run over ranges of steps in which
/// only the first step has resets (`begin_of_range`, `end_of_range`), so no state of a row is read both as
/// itself and as zero: `hide` zeroes those that the range reads from before a reset, and `show` restores them.
/// All other steps run as they would without resets.
template <class T>
class RowResets {
 public:
  RowResets(const StepProgram& program, const LayerSchedule& schedule, Interpreter<T>& interpreter);

  /// Starts the sequences of a slice. `given`: a number for each row and step, rows `stride` apart, nonzero
  /// where the row resets; null: none. `column`: the input column that is above 0 where a row resets; -1: none.
  void begin(const std::uint8_t* given, std::int64_t stride, std::int64_t column, std::int64_t rows,
             const std::int64_t* lengths, const Extent& extent);
  /// Notes the resets of steps [n0, n1), whose input is available. Steps come in order, and may be repeated.
  void find(std::int64_t n0, std::int64_t n1);

  bool empty() const { return resets_.empty(); }
  /// The last step before which the row resets; if there is none, a step before all others.
  std::int64_t last_of(std::int64_t row) const;
  /// The end, at most n1, of the range that starts at n; the start, at least n0, of the range that ends at n.
  std::int64_t end_of_range(std::int64_t n, std::int64_t n1) const;
  std::int64_t begin_of_range(std::int64_t n, std::int64_t n0) const;

  /// Call before a range that starts at step n.
  void enter(std::int64_t n) {
    if (tells_ && !empty()) tell_interpreter(n);
  }
  void hide(std::int64_t n0, std::int64_t n1);
  void show();
  /// Zeroes states on the grid before a range runs forward from step n, and again after the range has been
  /// undone back to n.
  void clear_grid(std::int64_t n);
  void restore_grid(std::int64_t n);
  /// Stops the gradient with respect to states up to step n of rows that reset there, after the range starting
  /// at n ran backward.
  void clear_adjoints(std::int64_t n);

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 2;

 private:
  struct Reset {
    std::int64_t step = 0, row = 0;
    bool given = false;
    std::size_t kept = 0;  ///< the location of its states on the grid in `grid_`
  };
  struct Read {
    int state = 0;
    std::int64_t lag = 0;
  };
  /// A row of a state at several steps.
  struct Hidden {
    T* at = nullptr;
    std::int64_t stride = 0, width = 0, steps = 0;
  };
  std::int64_t width(int state) const {
    return program_.states[static_cast<std::size_t>(state)].shape.width();
  }
  T* row_of(int state, std::int64_t n, std::int64_t row) const {
    return interpreter_.array(schedule_.state_arrays[static_cast<std::size_t>(state)]).at(n) +
           row * padded<T>(width(state));
  }
  void hide(const Hidden& row);
  void note(std::int64_t step, std::int64_t row, bool given);
  void tell_interpreter(std::int64_t n);
  /// Calls f with the resets at step n.
  template <class F>
  void at_step(std::int64_t n, F f);

  const StepProgram& program_;
  const LayerSchedule& schedule_;
  Interpreter<T>& interpreter_;
  std::vector<Read> reads_;   // that look back a known number of steps
  std::int64_t reach_ = 0;    // the largest of these numbers
  bool tells_ = false;        // whether the interpreter needs to know where rows started
  std::vector<int> on_grid_;  // states

  const std::uint8_t* given_ = nullptr;
  std::int64_t stride_ = 0, column_ = -1, rows_ = 0, first_ = 0, last_ = 0, found_ = 0;
  const std::int64_t* lengths_ = nullptr;
  std::vector<Reset> resets_;  // by step
  std::vector<Hidden> hidden_;
  std::vector<T> values_;  // what is hidden, in order
  std::size_t values_end_ = 0;
  std::vector<double> grid_;
  std::vector<RowBegin> begins_;  // by row
};

extern template class RowResets<float>;
extern template class RowResets<double>;

}  // namespace lagtape::recurrence
