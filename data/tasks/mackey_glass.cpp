#include "lagtape/data/tasks/mackey_glass.h"
#include "lagtape/data/tasks/registry.h"

namespace lagtape {

namespace {

double mackey_glass_slope(double x, double delayed) {
  const double square = delayed * delayed;
  const double fifth = square * square * delayed;
  return 0.2 * delayed / (1 + fifth * fifth) - 0.1 * x;
}

}  // namespace

DelaySeries mackey_glass() {
  return {.slope = mackey_glass_slope, .step = 0.25, .delay = 68, .transient = 2000};
}

namespace {

TaskLoader read_mackey_glass_task(JsonReader& reader, const TaskHints&) {
  return read_delay_series(reader, mackey_glass());
}

}  // namespace

/// Next-step prediction of x from t = 500 on, with x(0) ~ U(0, 1).
constinit const TaskEntry kMackeyGlassTask = {
    .name = "mackey_glass",
    .summary = "predict the next value of the chaotic Mackey-Glass delay equation",
    .source = "Mackey and Glass 1977; protocol of the tau-GRU paper, appendix H",
    .equations =
        "x'(t) = 0.2 x(t - 17) / (1 + x(t - 17)^10) - 0.1 x(t), x(t) = x(0) ~ U(0, 1) for t <= 0\n"
        "x: x at 500, 500.25, ...; y: x one step later",
    .read = read_mackey_glass_task,
};

}  // namespace lagtape
