#include "lagtape/data/mackey_glass.h"

#include "lagtape/data/delay_equation.h"
#include "lagtape/data/series_task.h"

namespace lagtape {

namespace {

constexpr double kStep = 0.25;
constexpr std::int64_t kDelay = 68;        // 17 / kStep
constexpr std::int64_t kTransient = 2000;  // 500 / kStep

}  // namespace

std::vector<double> mackey_glass_series(double start, std::int64_t steps) {
  auto equation = [](double x, double delayed) {
    const double square = delayed * delayed;
    const double fifth = square * square * delayed;
    return 0.2 * delayed / (1 + fifth * fifth) - 0.1 * x;
  };
  return integrate_delay_equation(equation, start, kStep, kDelay, steps);
}

TaskPlan read_mackey_glass(JsonReader& reader, const TaskHints&) {
  return read_series_task(reader, {mackey_glass_series, kTransient});
}

}  // namespace lagtape
