#include "lagtape/data/tasks/enso.h"
#include "lagtape/data/tasks/registry.h"

namespace lagtape {

namespace {

double slope(double T, double delayed) {
  return T - T * T * T - 0.93 * delayed * (1 - 0.49 * delayed * delayed);
}

}  // namespace

DelaySeries enso() { return {.slope = slope, .step = 0.1, .delay = 48, .transient = 2000}; }

namespace {

TaskLoader read_enso_task(JsonReader& reader, const TaskHints&) { return read_delay_series(reader, enso()); }

}  // namespace

/// Next-step prediction of T from t = 200 on, with T(0) ~ U(0, 1).
constinit const TaskEntry kEnsoTask = {
    .name = "enso",
    .summary = "predict the next value of a delayed-oscillator model of El Nino",
    .source = "tau-GRU paper",
    .equations =
        "T'(t) = T - T^3 - 0.93 T(t - 4.8) (1 - 0.49 T(t - 4.8)^2), T(t) = T(0) ~ U(0, 1) for t <= 0\n"
        "x: T at 200, 200.1, ...; y: T one step later",
    .read = read_enso_task,
};

}  // namespace lagtape
