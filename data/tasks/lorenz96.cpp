#include "lagtape/data/tasks/lorenz96.h"

#include <algorithm>

#include "lagtape/core/json/options.h"
#include "lagtape/data/generators/generated_series.h"
#include "lagtape/data/tasks/registry.h"

namespace lagtape {

namespace {

using Ring = std::array<double, kLorenz96Variables>;
constexpr double kStep = 0.01;

Ring slope(const Ring& x, double F) {
  constexpr std::size_t n = kLorenz96Variables;
  Ring slope;
  for (std::size_t j = 0; j < n; ++j) {
    slope[j] = (x[(j + 1) % n] - x[(j + n - 2) % n]) * x[(j + n - 1) % n] - x[j] + F;
  }
  return slope;
}

Ring moved(const Ring& x, double step, const Ring& slope) {
  Ring there;
  for (std::size_t j = 0; j < x.size(); ++j) there[j] = x[j] + step * slope[j];
  return there;
}

Ring next(const Ring& x, double F) {
  const Ring k1 = slope(x, F);
  const Ring k2 = slope(moved(x, kStep / 2, k1), F);
  const Ring k3 = slope(moved(x, kStep / 2, k2), F);
  const Ring k4 = slope(moved(x, kStep, k3), F);
  Ring sum;
  for (std::size_t j = 0; j < x.size(); ++j) sum[j] = k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j];
  return moved(x, kStep / 6, sum);
}

}  // namespace

std::vector<double> lorenz96(const Ring& start, double F, std::int64_t points) {
  std::vector<double> series;
  series.reserve(static_cast<std::size_t>(points) * kLorenz96Variables);
  Ring x = start;
  for (std::int64_t n = 0; n < points; ++n) {
    if (n > 0) x = next(x, F);
    series.insert(series.end(), x.begin(), x.end());
  }
  return series;
}

namespace {

struct Lorenz96Options {
  double F = 8;
  std::int64_t horizon = 25;
};

constexpr Option kLorenz96Rows[] = {
    option<&Lorenz96Options::F>("F", between(-20, 20), "forcing; the system is chaotic at 8, and not at 0.9"),
    option<&Lorenz96Options::horizon>("horizon", between(1, 100'000),
                                      "steps of 0.01 from an input to its target"),
};

TaskLoader read_lorenz96_task(JsonReader& reader, const TaskHints&) {
  Lorenz96Options options;
  read_options(reader, kLorenz96Rows, options);
  auto series = [F = options.F](RandomStream stream, std::int64_t points) {
    Ring start;
    std::generate(start.begin(), start.end(), [&] { return F - 0.5 + stream.next_uniform(); });
    return lorenz96(start, F, points);
  };
  return read_generated_series(reader, {.series = series,
                                        .width = kLorenz96Variables,
                                        .horizon = options.horizon,
                                        .length = 1975,
                                        .test = 128});
}

}  // namespace

/// Prediction of all five variables `horizon` (25) steps ahead, with x(0) uniform in F - 1/2..F + 1/2. The
/// protocol is that of the coRNN paper, used by UnICORNN's too: 2000 points, and so 1975 steps.
constinit const TaskEntry kLorenz96Task = {
    .name = "lorenz96",
    .summary = "predict the state of the Lorenz 96 system 25 steps ahead",
    .source = "Lorenz 1996; protocol of the coRNN paper, used for UnICORNN",
    .equations =
        "x_j' = (x_{j+1} - x_{j-2}) x_{j-1} - x_j + F, five variables on a ring, x_j(0) ~ U(F - 1/2, F + "
        "1/2)\n"
        "x: all five at 0, 0.01, ...; y: all five `horizon` steps later",
    .read = read_lorenz96_task,
};

}  // namespace lagtape
