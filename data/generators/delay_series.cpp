#include "lagtape/data/generators/delay_series.h"

#include "lagtape/core/json/options.h"
#include "lagtape/data/generators/generated_series.h"

namespace lagtape {

namespace {

struct DelayOptions {
  HalfStep half_step = HalfStep::linear;
};

constexpr Option kDelayOptions[] = {
    option<&DelayOptions::half_step>(
        "half_step",
        Choices{{"linear", HalfStep::linear},
                {"cubic", HalfStep::cubic},
                {"held", HalfStep::held},
                {"hermite", HalfStep::hermite}},
        "the delayed value in the middle of a Runge-Kutta step: the mean of its two neighbors on the grid, "
        "a cubic through four, the earlier neighbor, or a cubic through two with their slopes"),
};

}  // namespace

std::vector<double> delay_series(const DelaySeries& equation, double start, std::int64_t steps,
                                 HalfStep half_step) {
  auto slope = [&](double, double x, double delayed) { return equation.slope(x, delayed); };
  return integrate_delay_equation(
      slope, start, {.step = equation.step, .delay = equation.delay, .steps = steps, .half_step = half_step});
}

TaskLoader read_delay_series(JsonReader& reader, const DelaySeries& equation) {
  DelayOptions options;
  read_options(reader, kDelayOptions, options);
  auto kept = [equation, half_step = options.half_step](RandomStream stream, std::int64_t points) {
    std::vector<double> x =
        delay_series(equation, stream.next_uniform(), equation.transient + points - 1, half_step);
    x.erase(x.begin(), x.begin() + equation.transient);
    return x;
  };
  return read_generated_series(reader, {.series = kept});
}

}  // namespace lagtape
