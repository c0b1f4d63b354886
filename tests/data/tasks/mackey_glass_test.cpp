#include "lagtape/data/tasks/mackey_glass.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/data/streams.h"
#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/statistics.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

TEST_CASE("the Mackey-Glass series from 0.5 has its known values") {
  const std::vector<double> x = delay_series(mackey_glass(), 0.5, 500);
  CHECK(x[0] == 0.5);
  for (const auto& row : {std::pair{1, .51232096}, std::pair{68, .90786086}, std::pair{69, .91041360},
                          std::pair{100, 1.12684665}}) {
    CAPTURE(row.first);
    CHECK(std::abs(x[static_cast<std::size_t>(row.first)] - row.second) < 1e-8);
  }
  CHECK(std::abs(x[500] - 1.00820776) < 1e-7);  // chaos has begun to amplify the rounding
}

TEST_CASE("Mackey-Glass has the values known for other rules between the points of the grid") {
  const std::vector<double> cubic = delay_series(mackey_glass(), 0.5, 500, HalfStep::cubic);
  CHECK(std::abs(cubic[69] - .91041360) < 1e-8);
  CHECK(std::abs(cubic[100] - 1.12686012) < 1e-8);
  CHECK(std::abs(cubic[500] - 1.00783781) < 1e-7);
  const std::vector<double> held = delay_series(mackey_glass(), 0.5, 500, HalfStep::held);
  CHECK(std::abs(held[68] - .90786086) < 1e-8);
  CHECK(std::abs(held[69] - .91011169) < 1e-8);
  CHECK(std::abs(held[100] - 1.12344384) < 1e-8);
  CHECK(std::abs(held[500] - .96762104) < 1e-7);
}

TEST_CASE("Mackey-Glass asks for the next value from t = 500 on") {
  const Task task = load(R"({"task": "mackey_glass", "train": 3, "valid": 2, "test": 1})", 7);
  CHECK(task.shape.every_step);
  CHECK(task.shape.length == 2000);
  CHECK(task.train->size() == 3);
  CHECK(task.valid->size() == 2);
  CHECK(task.test->size() == 1);
  const Batch batch = take(*task.train, 0, 3);
  REQUIRE(batch.x.shape() == Shape{3, 2000, 1});
  REQUIRE(batch.y.shape() == Shape{3, 2000, 1});
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t n = 0; n + 1 < 2000; ++n)
      CHECK(batch.x.at(row * 2000 + n + 1) == batch.y.at(row * 2000 + n));
  }
}

TEST_CASE("the kept part of a series begins 2000 steps after its start value") {
  const Task task = load(R"({"task": "mackey_glass", "train": 2, "length": 30})", 7);
  const double start = sequence_stream(7, Split::train, 1).next_uniform();
  const std::vector<double> whole = delay_series(mackey_glass(), start, 2030);
  CHECK(values_of(take(*task.train, 1, 1).x) ==
        std::vector<double>(whole.begin() + 2000, whole.begin() + 2030));
}

TEST_CASE("the set has the statistics of the attractor") {
  const Task task = load(R"({"task": "mackey_glass", "train": 64, "valid": 0, "test": 0})", 1);
  const SeriesStatistics s = statistics_of(take(*task.train, 0, 64));
  CHECK(std::abs(s.mean - 0.930) < 0.01);
  CHECK(std::abs(s.deviation - 0.2256) < 0.006);
  CHECK(std::abs(s.persistence - 8.26e-3) < 1.5e-4);
  CHECK(std::abs(s.extrapolation - 4.64e-4) < 1e-5);
  CHECK(s.least > 0.38);
  CHECK(s.least < 0.46);
  CHECK(s.largest < 1.34);
  CHECK(s.largest > 1.28);
}

TEST_CASE("the set of a task is known before it is generated") {
  ReadTask read = task_from(R"({"task": "mackey_glass"})");
  REQUIRE(read.loader.shape.has_value());
  CHECK(read.loader.shape->output == 1);
  CHECK(read.filled == parse_json(R"({"task": "mackey_glass", "half_step": "linear", "length": 2000,
                                     "train": 128, "valid": 128, "test": 1024})",
                                  ""));
}
