#include "lagtape/data/tasks/lorenz96.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/data/support/statistics.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

TEST_CASE("the Lorenz 96 series has its known values") {
  const std::vector<double> x = lorenz96({8.01, 8, 8, 8, 8}, 8, 501);
  struct Known {
    std::size_t step;
    std::array<double, 5> x;
    double tolerance;
  };
  for (const Known& known : {Known{0, {8.01, 8, 8, 8, 8}, 1e-15},
                             Known{1, {8.009898, 7.999936, 7.999209, 8.000034, 8.000824}, 6e-7},
                             Known{100, {11.27011, 12.843024, -0.72532, -0.988916, 3.375103}, 6e-6},
                             Known{500, {2.417674, 6.964323, -1.721979, -5.262366, 0.966283}, 6e-6}}) {
    for (std::size_t j = 0; j < 5; ++j) {
      CAPTURE(known.step);
      CAPTURE(j);
      CHECK(std::abs(x[known.step * 5 + j] - known.x[j]) < known.tolerance);
    }
  }
}

TEST_CASE("a ring at rest stays where the forcing holds it") {
  const std::vector<double> x = lorenz96({3, 3, 3, 3, 3}, 3, 20);
  CHECK(x == std::vector<double>(100, 3.0));
}

TEST_CASE("the Lorenz 96 sets have their known statistics") {
  struct Known {
    const char* forcing;
    double mean, deviation, persistence, mean_predictor;  // the last two over the size of the target
  };
  for (const Known& known :
       {Known{"0.9", 0.879, 0.138, 0.052, 0.155}, Known{"8", 2.40, 3.82, 0.997, 0.847}}) {
    const Task task = load(text_of(R"({"task": "lorenz96", "F": )", known.forcing, "}"), 1);
    CHECK(task.shape.length == 1975);
    CHECK(task.shape.input == 5);
    CHECK(task.shape.output == 5);
    CHECK(task.test->size() == 128);
    const SeriesStatistics s = statistics_of(take(*task.train, 0, 128));
    CAPTURE(known.forcing);
    CHECK(s.mean == doctest::Approx(known.mean).epsilon(0.01));
    CHECK(s.deviation == doctest::Approx(known.deviation).epsilon(0.02));
    CHECK(s.persistence / s.target_size == doctest::Approx(known.persistence).epsilon(0.02));
    CHECK(s.deviation / s.target_size == doctest::Approx(known.mean_predictor).epsilon(0.02));
  }
}

TEST_CASE("the target of Lorenz 96 is the state 25 steps later, the start is around the forcing") {
  const Task task = load(R"({"task": "lorenz96", "F": 2.5, "length": 40, "train": 50})", 3);
  const Task next = load(R"({"task": "lorenz96", "F": 2.5, "length": 40, "train": 50, "horizon": 1})", 3);
  for (std::int64_t i = 0; i < 50; ++i) {
    const std::vector<double> x = values_of(take(*task.train, i, 1).x),
                              y = values_of(take(*task.train, i, 1).y);
    CHECK(std::equal(y.begin(), y.end() - 25 * 5, x.begin() + 25 * 5));
    CHECK(x == values_of(take(*next.train, i, 1).x));
    CHECK(y[0] == x[25 * 5]);
    for (std::size_t j = 0; j < 5; ++j) CHECK((x[j] >= 2 && x[j] < 3));
    CHECK(x[0] != x[1]);
  }
}
