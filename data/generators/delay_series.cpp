#include "lagtape/data/generators/delay_series.h"

#include <algorithm>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/generators/generated_series.h"

namespace lagtape {

namespace {

const std::vector<std::string> kHalfSteps = {"linear", "cubic", "held", "hermite"};

HalfStep read_half_step(JsonReader& reader) {
  std::string name = kHalfSteps.front();
  reader.choice(
      "half_step", name, kHalfSteps,
      "the delayed value in the middle of a Runge-Kutta step: the mean of its two neighbours on the grid, a "
      "cubic through four, the earlier neighbour, or a cubic through two with their slopes");
  const auto place = std::find(kHalfSteps.begin(), kHalfSteps.end(), name);
  return place == kHalfSteps.end() ? HalfStep::linear : static_cast<HalfStep>(place - kHalfSteps.begin());
}

}  // namespace

std::vector<double> delay_series(const DelaySeries& equation, double start, std::int64_t steps,
                                 HalfStep half_step) {
  auto slope = [&](double, double x, double delayed) { return equation.slope(x, delayed); };
  return integrate_delay_equation(
      slope, start, {.step = equation.step, .delay = equation.delay, .steps = steps, .half_step = half_step});
}

TaskLoader read_delay_series(JsonReader& reader, const DelaySeries& equation) {
  const HalfStep half_step = read_half_step(reader);
  auto kept = [equation, half_step](RandomStream stream, std::int64_t points) {
    std::vector<double> x =
        delay_series(equation, stream.next_uniform(), equation.transient + points - 1, half_step);
    x.erase(x.begin(), x.begin() + equation.transient);
    return x;
  };
  return read_generated_series(reader, {.series = kept});
}

}  // namespace lagtape
