#include "lagtape/data/tasks/mackey_glass.h"

namespace lagtape {

namespace {

double slope(double x, double delayed) {
  const double square = delayed * delayed;
  const double fifth = square * square * delayed;
  return 0.2 * delayed / (1 + fifth * fifth) - 0.1 * x;
}

}  // namespace

DelaySeries mackey_glass() { return {.slope = slope, .step = 0.25, .delay = 68, .transient = 2000}; }

TaskLoader read_mackey_glass(JsonReader& reader, const TaskHints&) {
  return read_delay_series(reader, mackey_glass());
}

}  // namespace lagtape
