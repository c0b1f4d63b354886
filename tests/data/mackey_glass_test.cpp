#include "lagtape/data/mackey_glass.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/data/delay_equation.h"
#include "lagtape/data/streams.h"
#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

TEST_CASE("the Mackey-Glass series from 0.5 has its known values") {
  const std::vector<double> x = mackey_glass_series(0.5, 500);
  CHECK(x[0] == 0.5);
  for (auto [step, value] : {std::pair{1, .51232096}, std::pair{68, .90786086}, std::pair{69, .91041360},
                             std::pair{100, 1.12684665}}) {
    CAPTURE(step);
    CHECK(std::abs(x[static_cast<std::size_t>(step)] - value) < 1e-8);
  }
  CHECK(std::abs(x[500] - 1.00820776) < 1e-7);  // chaos has begun to amplify the rounding
}

TEST_CASE("the delay integrator is exact where the solution is a polynomial") {
  // x' = -x(t - 1), x = 1 before 0: x = 1 - t on [0, 1], then x = 1 - t + (t - 1)^2 / 2 on [1, 2].
  const auto x = integrate_delay_equation([](double, double delayed) { return -delayed; }, 1.0, 0.125, 8, 16);
  for (int n = 0; n <= 8; ++n) CHECK(x[static_cast<std::size_t>(n)] == doctest::Approx(1 - 0.125 * n));
  for (int n = 9; n <= 16; ++n) {
    const double t = 0.125 * n;
    CHECK(x[static_cast<std::size_t>(n)] == doctest::Approx(1 - t + (t - 1) * (t - 1) / 2).epsilon(1e-12));
  }
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
  const std::vector<double> whole = mackey_glass_series(start, 2030);
  CHECK(values_of(take(*task.train, 1, 1).x) ==
        std::vector<double>(whole.begin() + 2000, whole.begin() + 2030));
}

TEST_CASE("the set has the statistics of the attractor") {
  const Task task = load(R"({"task": "mackey_glass", "train": 64, "valid": 0, "test": 0})", 1);
  const std::vector<double> x = values_of(take(*task.train, 0, 64).x);
  double sum = 0, squares = 0, least = 9, largest = 0, jumps = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += x[i], squares += x[i] * x[i];
    least = std::min(least, x[i]), largest = std::max(largest, x[i]);
    if (i % 2000 != 0) jumps += (x[i] - x[i - 1]) * (x[i] - x[i - 1]);
  }
  const double count = static_cast<double>(x.size()), mean = sum / count;
  CHECK(std::abs(mean - 0.930) < 0.01);
  CHECK(std::abs(std::sqrt(squares / count - mean * mean) - 0.2256) < 0.006);
  CHECK(std::abs(std::sqrt(jumps / (count - 64)) - 8.26e-3) < 1.5e-4);
  CHECK(least > 0.38);
  CHECK(least < 0.46);
  CHECK(largest < 1.34);
  CHECK(largest > 1.28);
}

TEST_CASE("a series depends on seed, split and index only") {
  auto x = [](const char* options, std::uint64_t seed, const char* split, std::int64_t index) {
    const Task task = load(concat(R"({"task": "mackey_glass", "length": 20, )", options, "}"), seed);
    return values_of(take(task.split(split), index, 1).x);
  };
  const char *small = R"("train": 2, "valid": 2)", *large = R"("train": 9, "valid": 5, "test": 3)";
  CHECK(x(small, 3, "train", 1) == x(large, 3, "train", 1));
  CHECK(x(small, 3, "valid", 1) == x(large, 3, "valid", 1));
  CHECK(x(small, 3, "train", 1) != x(small, 4, "train", 1));
  CHECK(x(small, 3, "train", 1) != x(small, 3, "valid", 1));
  CHECK(x(small, 3, "train", 1) != x(small, 3, "train", 0));
}

TEST_CASE("the set of a task is known before it is generated") {
  ReadTask read = task_from(R"({"task": "mackey_glass"})");
  REQUIRE(read.plan.shape.has_value());
  CHECK(read.plan.shape->output == 1);
  CHECK(read.filled ==
        parse_json(R"({"task": "mackey_glass", "length": 2000, "train": 128, "valid": 128, "test": 1024})",
                   ""));
}
