#include "lagtape/data/tasks/fitzhugh_nagumo.h"

#include <array>

#include "lagtape/core/json/options.h"
#include "lagtape/data/generators/generated_series.h"
#include "lagtape/data/tasks/registry.h"

namespace lagtape {

namespace {

constexpr double kSpacing = 0.4;

void neuron(std::span<const double> y, std::span<double> slope) {
  const double v = y[0], w = y[1];
  slope[0] = v - v * v * v / 3 - w + 0.5;
  slope[1] = 0.02 * (v + 0.7 - 0.8 * w);
}

}  // namespace

std::vector<double> fitzhugh_nagumo(double v, std::int64_t points, Tolerance tolerance) {
  const std::array start = {v, 0.0};
  const std::vector<double> both = dormand_prince(neuron, start, kSpacing, points, tolerance);
  std::vector<double> voltage;
  for (std::size_t n = 0; n < both.size(); n += 2) voltage.push_back(both[n]);
  return voltage;
}

namespace {

constexpr Option kFitzhughNagumoRows[] = {
    option<&Tolerance::relative>("rtol", between(1e-13, 1), "relative tolerance of the solver"),
    option<&Tolerance::absolute>("atol", between(1e-13, 1), "absolute tolerance of the solver"),
};

TaskLoader read_fitzhugh_nagumo_task(JsonReader& reader, const TaskHints&) {
  Tolerance tolerance;
  read_options(reader, kFitzhughNagumoRows, tolerance);
  auto series = [tolerance](RandomStream stream, std::int64_t points) {
    return fitzhugh_nagumo(2 * stream.next_uniform() - 1, points, tolerance);
  };
  return read_generated_series(reader, {.series = series, .length = 1000});
}

}  // namespace

/// Next-step prediction of v, with v(0) ~ U(-1, 1).
constinit const TaskEntry kFitzhughNagumoTask = {
    .name = "fitzhugh_nagumo",
    .summary = "predict the next voltage of the FitzHugh-Nagumo neuron",
    .source = "FitzHugh 1961, Nagumo et al. 1962; protocol of Long Expressive Memory (LEM)",
    .equations =
        "v' = v - v^3 / 3 - w + 0.5, w' = 0.02 (v + 0.7 - 0.8 w), v(0) ~ U(-1, 1), w(0) = 0\n"
        "x: v at 0, 0.4, ...; y: v one step later\n"
        "solved by the adaptive Dormand-Prince method of order 5(4)",
    .read = read_fitzhugh_nagumo_task,
};

}  // namespace lagtape
