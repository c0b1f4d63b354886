#include "lagtape/data/tasks/dde_response.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lagtape/core/json/options.h"
#include "lagtape/data/generators/delay_equation.h"
#include "lagtape/data/generators/drawn_task.h"
#include "lagtape/data/tasks/registry.h"

namespace lagtape {

namespace {

constexpr double kMostSteps = 1e6;  ///< maximum number of solver steps
/// The solver's largest step: the fastest cosine of the forcing turns by 128 radians per unit of time.
constexpr double kLargestStep = 0.01;

/// The number of solver steps per step of the sequence.
std::int64_t substeps(double step) {
  return static_cast<std::int64_t>(std::ceil(step / kLargestStep - 1e-9));
}

struct ResponseOptions {
  std::string equation = "linear";
  double tau = 0.5, step = 0.01, span = 20;
  bool random_shift = false;
  DrawnSets sets{.train = 1, .valid = 1, .test = 1};
};

/// The number of steps in a time. Notes an error at the key unless it is an integer, and not too large.
std::int64_t whole_steps(JsonReader& reader, const std::string& key, double time, double step) {
  const double steps = std::round(time / step), most = kMostSteps / static_cast<double>(substeps(step));
  if (steps > most) {
    reader.error(key, text_of("must be at most ", most, " steps of ", step, ". Got ", time, "."));
    return 0;
  }
  if (std::abs(steps * step - time) > 1e-9 * time) {
    reader.error(key, text_of("must be a whole number of steps of ", step, ". Got ", time, "."));
  }
  return static_cast<std::int64_t>(steps);
}

constexpr Option kDdeResponseRows[] = {
    option<&ResponseOptions::equation>("equation", {"linear", "tanh"},
                                       "h' = s - h(t - tau), or h' = -h + tanh(s - h(t - tau))"),
    option<&ResponseOptions::tau>("tau", between(0, 1e6), "delay; 0: no delay"),
    option<&ResponseOptions::step>("step", between(1e-6, 1), "time between two steps of a sequence"),
    option<&ResponseOptions::span>("span", above(0), "time of the last step; the first is at 0"),
    option<&ResponseOptions::random_shift>(
        "random_shift", "each sequence has its own forcing s(t + U(0, 2 pi)); false: all have s(t)"),
    rows_of<&ResponseOptions::sets>(kDrawnSets),
};

}  // namespace

double dde_forcing(bool saturating, double t) {
  if (!saturating) return std::cos(t);
  return std::cos(2 * t) + std::cos(8 * t) / 3 + std::cos(32 * t) / 9 + std::cos(128 * t) / 27;
}

std::vector<double> dde_response(const DdeResponse& equation, double shift, std::int64_t steps) {
  auto slope = [&](double t, double h, double delayed) {
    const double difference = dde_forcing(equation.saturating, t + shift) - delayed;
    return equation.saturating ? std::tanh(difference) - h : difference;
  };
  const std::int64_t parts = substeps(equation.step);
  const std::vector<double> fine =
      integrate_delay_equation(slope, 0.0,
                               {.step = equation.step / static_cast<double>(parts),
                                .delay = equation.delay * parts,
                                .steps = steps * parts,
                                .half_step = HalfStep::hermite});
  std::vector<double> response;
  for (std::int64_t n = 0; n <= steps; ++n) response.push_back(fine[static_cast<std::size_t>(n * parts)]);
  return response;
}

namespace {

TaskLoader read_dde_response_task(JsonReader& reader, const TaskHints&) {
  ResponseOptions options;
  read_options(reader, kDdeResponseRows, options);
  const DdeResponse equation{.saturating = options.equation == "tanh",
                             .delay = whole_steps(reader, "tau", options.tau, options.step),
                             .step = options.step};
  const std::int64_t steps = whole_steps(reader, "span", options.span, options.step);
  const DataShape shape{.length = steps + 1, .input = 1, .output = 1, .every_step = true};
  auto draw = [=, random = options.random_shift](std::int64_t, RandomStream stream, Batch& batch,
                                                 std::int64_t row) {
    const double shift = random ? 2 * std::numbers::pi * stream.next_uniform() : 0;
    const std::vector<double> response = dde_response(equation, shift, steps);
    with_scalar(batch.x.dtype(), [&]<class T>() {
      T* x = batch.x.values<T>().data() + row * batch.x.size(1);
      T* y = batch.y.values<T>().data() + row * batch.y.size(1);
      for (std::int64_t n = 0; n <= steps; ++n) {
        x[n] =
            static_cast<T>(dde_forcing(equation.saturating, static_cast<double>(n) * equation.step + shift));
        y[n] = static_cast<T>(response[static_cast<std::size_t>(n)]);
      }
    });
  };
  return drawn_task(shape, options.sets, draw);
}

}  // namespace

/// Prediction of the response at every step from the forcing at the same times, 0..span. There is one
/// forcing, so every set holds one sequence, unless `random_shift` starts each sequence at its own time.
constinit const TaskEntry kDdeResponseTask = {
    .name = "dde_response",
    .summary = "predict the response of a delay differential equation to a given forcing",
    .source = "tau-GRU paper, appendix A",
    .equations =
        "linear: h'(t) = s(t) - h(t - tau), s(t) = cos t\n"
        "tanh:   h'(t) = -h(t) + tanh(s(t) - h(t - tau)), s(t) = sum over n = 0..3 of 3^-n cos(4^n 2 t)\n"
        "h(t) = 0 for t <= 0; x: s(t), y: h(t) at t = 0, step, ..., span",
    .read = read_dde_response_task,
};

}  // namespace lagtape
