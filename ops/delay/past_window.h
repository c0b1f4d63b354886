#pragma once

#include <string>
#include <vector>

#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

/// The last steps of a method, each with its age (the time since its start) and some rows of numbers, as states
/// of a step program: the newest first. Steps of zero width are never found.
class PastWindow {
 public:
  /// `steps`: the number of remembered steps, more than one push adds.
  PastWindow(StepTape& tape, std::int64_t steps) : tape_(tape), steps_(steps) {}

  /// Adds rows under a name, and returns their index.
  std::size_t add(const std::string& name, std::int64_t width);
  /// Declares the ages. `base` is their zero, on the clock of the pushed steps.
  void begin(StepVar base);

  struct Entry {
    StepVar begin;              ///< the time at which the step starts
    std::vector<StepVar> rows;  ///< its numbers
  };
  /// Adds steps, oldest first, ending at `base`.
  void push(const std::vector<Entry>& entries, StepVar base);
  StepVar base() const { return base_; }
  void finish();  ///< sets the states' next values

  /// The step that contains a time, `age` before the base.
  struct Found {
    StepVar mask;        // 1 for that step, else 0
    StepVar age, width;  // time within that step; 0 if there is none
  };
  /// A time within `tolerance` of the point where two steps meet is assigned to the older one (`older`: true)
  /// or the newer one.
  Found find(StepVar age, double tolerance);
  /// A row of the found step, a vector.
  StepVar row(const Found& found, std::size_t row);
  /// The same for the step after it; `newest` is used after the newest step.
  StepVar next_row(const Found& found, std::size_t row, StepVar newest);

 private:
  struct Rows {
    std::int64_t width = 1;
    StepVar state, now;
  };
  StepVar flat(StepVar a);
  StepVar joined(StepVar first, StepVar rest);
  StepVar masked(const Found& found, StepVar rows, std::int64_t width);
  StepVar shifted(StepVar first, StepVar rows, std::int64_t width);

  StepTape& tape_;
  std::int64_t steps_;
  std::vector<Rows> rows_;
  StepVar ages_state_, ages_, base_;
};

}  // namespace lagtape
