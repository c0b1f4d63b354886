#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "lagtape/ops/recurrence/memory/extent.h"
#include "lagtape/ops/recurrence/run/interpreter.h"

namespace lagtape::recurrence {

/// The rows of a slice whose states begin again inside their sequences, for one layer. A reset before step n hides the states
/// of its row up to that of step n from all later steps. Passes go over ranges of steps that have resets at their first step
/// alone (`begin_of_range`, `end_of_range`), so that no state of a row is read both as itself and as zero: `hide` sets those
/// that the range reads from before a reset to zeros, and `show` brings them back. All other steps run as without resets.
template <class T>
class RowResets {
 public:
  RowResets(const StepProgram& program, const LayerSchedule& schedule, Interpreter<T>& interpreter);

  /// Begins the sequences of a slice. `given`: a number a step for each row, the rows `stride` apart, other than 0 where it
  /// begins again; null: none. `column`: of the input, above 0 where a row begins again; -1: none.
  void begin(const std::uint8_t* given, std::int64_t stride, std::int64_t column, std::int64_t rows,
             const std::int64_t* lengths, const Extent& extent);
  /// Notes the resets of steps [n0, n1), whose input is there. Steps come in order, and may come again.
  void find(std::int64_t n0, std::int64_t n1);

  bool empty() const { return resets_.empty(); }
  /// The last step of which a row begins again; a step before all others: none.
  std::int64_t last_of(std::int64_t row) const;
  /// Of the range that begins at n its end, at most n1; of the range that ends at n its begin, at least n0.
  std::int64_t end_of_range(std::int64_t n, std::int64_t n1) const;
  std::int64_t begin_of_range(std::int64_t n, std::int64_t n0) const;

  /// To be called before a range that begins at step n.
  void enter(std::int64_t n) {
    if (tells_ && !empty()) tell_interpreter(n);
  }
  void hide(std::int64_t n0, std::int64_t n1);
  void show();
  /// Sets states on the grid to zeros before a range runs forward from step n on, and back after it was undone to there.
  void clear_grid(std::int64_t n);
  void restore_grid(std::int64_t n);
  /// Ends the gradient by the states up to step n of rows that begin again there, after the range from n on ran backward.
  void clear_adjoints(std::int64_t n);

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 2;

 private:
  struct Reset {
    std::int64_t step = 0, row = 0;
    bool given = false;
    std::size_t kept = 0;  ///< the place of its states on the grid in `grid_`
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
  std::vector<Read> reads_;   // that look back a number of steps that is known
  std::int64_t reach_ = 0;    // the largest of these numbers
  bool tells_ = false;        // the interpreter asks where rows began
  std::vector<int> on_grid_;  // states

  const std::uint8_t* given_ = nullptr;
  std::int64_t stride_ = 0, column_ = -1, rows_ = 0, first_ = 0, last_ = 0, found_ = 0;
  const std::int64_t* lengths_ = nullptr;
  std::vector<Reset> resets_;  // by step
  std::vector<Hidden> hidden_;
  std::vector<T> values_;  // what is hidden, one after another
  std::size_t values_end_ = 0;
  std::vector<double> grid_;
  std::vector<RowBegin> begins_;  // by row
};

extern template class RowResets<float>;
extern template class RowResets<double>;

}  // namespace lagtape::recurrence
