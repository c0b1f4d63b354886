#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/data/batches.h"
#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

TEST_CASE("the target is the sum of two marked values, one in each half") {
  for (std::int64_t length : {2, 3, 11, 200}) {
    CAPTURE(length);
    const Task task = load(text_of(R"({"task": "adding", "length": )", length, "}"), 5);
    const Batch batch = take(*task.train, 0, 50);
    REQUIRE(batch.x.shape() == Shape{50, length, 2});
    REQUIRE(batch.y.shape() == Shape{50, 1});
    for (std::int64_t row = 0; row < 50; ++row) {
      std::vector<std::int64_t> marks;
      double sum = 0;
      for (std::int64_t n = 0; n < length; ++n) {
        const double value = batch.x.at((row * length + n) * 2),
                     mark = batch.x.at((row * length + n) * 2 + 1);
        CHECK((value >= 0 && value < 1));
        CHECK((mark == 0 || mark == 1));
        if (mark == 1) marks.push_back(n), sum += value;
      }
      REQUIRE(marks.size() == 2);
      CHECK(marks[0] < length / 2);
      CHECK(marks[1] >= length / 2);
      CHECK(batch.y.at(row) == sum);
    }
  }
}

TEST_CASE("predicting one gives the known baseline of the adding problem") {
  const Task task = load(R"({"task": "adding", "length": 20})");
  double squares = 0;
  const std::vector<double> y = values_of(take(*task.train, 0, 20000).y);
  for (double v : y) squares += (v - 1) * (v - 1);
  CHECK(std::abs(squares / 20000 - 1.0 / 6) < 0.005);
}

TEST_CASE("marks fall evenly over both halves") {
  const Task task = load(R"({"task": "adding", "length": 10})", 2);
  std::vector<int> marked(10);
  const Batch batch = take(*task.train, 0, 10000);
  for (std::int64_t i = 0; i < 100000; ++i)
    marked[static_cast<std::size_t>(i % 10)] += batch.x.at(2 * i + 1) == 1;
  for (int count : marked) CHECK(std::abs(count - 2000) < 200);  // 5 standard deviations
}

TEST_CASE("a fresh training set never ends and never repeats a batch") {
  const Task task = load(R"({"task": "adding", "length": 4, "valid": 3})");
  CHECK(task.fresh);
  CHECK(task.train->size() == Dataset::kUnlimited);
  CHECK(task.valid->size() == 3);
  CHECK(task.test->size() == 1000);
  TrainingOrder order(*task.train, 5, 0);
  ThreadPool pool(1);
  auto x = [&](std::int64_t step) {
    return values_of(gather(*task.train, order.indices(0, step), Dtype::f64, pool).x);
  };
  CHECK(x(1'000'000'000) == x(1'000'000'000));
  CHECK(x(0) != x(1));
  CHECK(order.indices(0, 3) == std::vector<std::int64_t>{15, 16, 17, 18, 19});
}

TEST_CASE("training, validation and test sequences differ, and so do seeds") {
  auto y = [](std::uint64_t seed, const char* split) {
    return take(load(R"({"task": "adding", "length": 8})", seed).split(split), 0, 1).y.at(0);
  };
  CHECK(y(0, "train") != y(0, "valid"));
  CHECK(y(0, "valid") != y(0, "test"));
  CHECK(y(0, "test") != y(1, "test"));
  CHECK(y(0, "test") == y(0, "test"));
}

TEST_CASE("a fixed set of training sequences can be asked for") {
  const Task task = load(R"({"task": "adding", "length": 4, "fresh": false, "train": 7})");
  CHECK_FALSE(task.fresh);
  CHECK(task.train->size() == 7);
  const std::string message = input_error_of([] { task_from(R"({"task": "adding", "train": 7})"); });
  CHECK(has(message, "/data/train"));
  CHECK(has(message, "\"fresh\": false"));
}
