#include "lagtape/data/tasks/enso.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/data/streams.h"
#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/statistics.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

TEST_CASE("the ENSO series from 0.5 has its known values under each rule between the points of the grid") {
  struct Known {
    HalfStep half_step;
    double at_49, at_100, at_500, at_4000;
  };
  for (const Known& known : {Known{HalfStep::linear, -.28897249, -.90171704, .71286853, -1.10459027},
                             Known{HalfStep::cubic, -.28897249, -.90185559, .71334420, -1.10942679},
                             Known{HalfStep::held, -.28907375, -.91431612, .73369418, -.85523034}}) {
    const std::vector<double> T = delay_series(enso(), 0.5, 4000, known.half_step);
    CAPTURE(known.at_100);
    CHECK(T[0] == 0.5);
    CHECK(std::abs(T[1] - .49665405) < 1e-8);
    CHECK(std::abs(T[48] + .22435217) < 1e-8);
    CHECK(std::abs(T[49] - known.at_49) < 1e-8);
    CHECK(std::abs(T[100] - known.at_100) < 1e-8);
    CHECK(std::abs(T[500] - known.at_500) < 1e-8);
    CHECK(std::abs(T[4000] - known.at_4000) < 1e-8);
  }
}

TEST_CASE("the cubic through two values and slopes agrees with the cubic through four") {
  const std::vector<double> two = delay_series(enso(), 0.5, 1000, HalfStep::hermite);
  const std::vector<double> four = delay_series(enso(), 0.5, 1000, HalfStep::cubic);
  const std::vector<double> mean = delay_series(enso(), 0.5, 1000, HalfStep::linear);
  CHECK(std::abs(two[1000] - four[1000]) < 2e-5);
  CHECK(std::abs(two[1000] - mean[1000]) > 2e-4);
}

TEST_CASE("the ENSO set has the statistics of its periodic orbit") {
  const Task task = load(R"({"task": "enso", "train": 64, "valid": 0, "test": 0})", 1);
  CHECK(task.shape.length == 2000);
  CHECK(task.shape.every_step);
  const SeriesStatistics s = statistics_of(take(*task.train, 0, 64));
  CHECK(std::abs(s.mean - 0.02) < 0.01);
  CHECK(std::abs(s.deviation - 0.803) < 0.002);
  CHECK(std::abs(s.persistence - 2.81e-2) < 1e-4);
  CHECK(std::abs(s.extrapolation - 2.80e-3) < 1e-5);
  CHECK(std::abs(s.least + 1.166) < 1e-3);
  CHECK(std::abs(s.largest - 1.166) < 1e-3);
}

TEST_CASE("the kept part of an ENSO series begins at t = 200, and its target is the next value") {
  const Task task = load(R"({"task": "enso", "train": 2, "length": 30, "half_step": "cubic"})", 7);
  const double start = sequence_stream(7, Split::train, 1).next_uniform();
  const std::vector<double> whole = delay_series(enso(), start, 2030, HalfStep::cubic);
  const Batch batch = take(*task.train, 1, 1);
  CHECK(values_of(batch.x) == std::vector<double>(whole.begin() + 2000, whole.begin() + 2030));
  CHECK(values_of(batch.y) == std::vector<double>(whole.begin() + 2001, whole.end()));
}

TEST_CASE("an unknown rule between the points of the grid is refused with the nearest") {
  const std::string message = input_error_of([] { task_from(R"({"task": "enso", "half_step": "cubik"})"); });
  CHECK(has(message, "/data/half_step"));
  CHECK(has(message, "'cubic'"));
}
