#include "lagtape/data/tasks/enso.h"

namespace lagtape {

namespace {

double slope(double T, double delayed) {
  return T - T * T * T - 0.93 * delayed * (1 - 0.49 * delayed * delayed);
}

}  // namespace

DelaySeries enso() { return {.slope = slope, .step = 0.1, .delay = 48, .transient = 2000}; }

TaskLoader read_enso(JsonReader& reader, const TaskHints&) { return read_delay_series(reader, enso()); }

}  // namespace lagtape
