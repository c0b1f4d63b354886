#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

TEST_CASE("random numbers have the shape that was asked for and are standard normal") {
  const Task task = load(R"({"task": "random", "length": 50, "input": 3, "output": 2, "train": 100})");
  const Batch batch = take(*task.train, 0, 100);
  REQUIRE(batch.x.shape() == Shape{100, 50, 3});
  REQUIRE(batch.y.shape() == Shape{100, 2});
  double sum = 0, squares = 0;
  for (double v : values_of(batch.x)) sum += v, squares += v * v;
  CHECK(std::abs(sum / 15000) < 0.04);
  CHECK(std::abs(squares / 15000 - 1) < 0.06);
}

TEST_CASE("by default a random task has one training batch and targets where the model reads out") {
  const Task task = load(R"({"task": "random", "length": 5, "input": 1, "output": 1})", 0, {},
                         {.batch = 6, .every_step = true});
  CHECK(task.train->size() == 6);
  CHECK(task.valid->size() == 0);
  CHECK(task.test->size() == 0);
  CHECK(take(*task.train, 0, 6).y.shape() == Shape{6, 5, 1});
}

TEST_CASE("random classes are all there and none is out of range") {
  const Task task = load(R"({"task": "random", "length": 2, "input": 1, "classes": 4, "train": 200})");
  const Batch batch = take(*task.train, 0, 200);
  CHECK(batch.y.empty());
  REQUIRE(batch.classes.size() == 200);
  CHECK(std::set<std::int32_t>(batch.classes.begin(), batch.classes.end()) ==
        std::set<std::int32_t>{0, 1, 2, 3});
}

TEST_CASE("sequences of unequal length are padded with zeros and class -1") {
  const Task task = load(
      R"({"task": "random", "length": 9, "input": 2, "classes": 3, "every_step": true, "lengths": "random", "train": 40})");
  const Batch batch = take(*task.train, 0, 40);
  CHECK(std::set<std::int64_t>(batch.lengths.begin(), batch.lengths.end()).size() == 9);
  const std::int64_t steps = batch.x.size(1);
  for (std::int64_t row = 0; row < 40; ++row) {
    for (std::int64_t n = 0; n < steps; ++n) {
      const bool inside = n < batch.lengths[static_cast<std::size_t>(row)];
      CHECK((batch.x.at((row * steps + n) * 2 + 1) != 0) == inside);
      CHECK((batch.classes[static_cast<std::size_t>(row * steps + n)] >= 0) == inside);
    }
  }
}

TEST_CASE("a batch is as long as its longest sequence, and padding changes no sequence") {
  const Task task =
      load(R"({"task": "random", "length": 30, "input": 1, "output": 1, "lengths": "random", "train": 20})");
  for (std::int64_t i = 0; i < 20; ++i) {
    const Batch alone = take(*task.train, i, 1), together = take(*task.train, 0, 20);
    REQUIRE(alone.x.size(1) == alone.lengths[0]);
    CHECK(alone.lengths[0] == together.lengths[static_cast<std::size_t>(i)]);
    CHECK(alone.y.at(0) == together.y.at(i));
    for (std::int64_t n = 0; n < alone.lengths[0]; ++n) {
      CHECK(alone.x.at(n) == together.x.at(i * together.x.size(1) + n));
    }
  }
}

TEST_CASE("a random task has real targets or classes") {
  for (const char* text : {R"({"task": "random", "length": 2, "input": 1})",
                           R"({"task": "random", "length": 2, "input": 1, "output": 1, "classes": 2})",
                           R"({"task": "random", "length": 2, "input": 1, "classes": 1})",
                           R"({"task": "random", "input": 1, "output": 1})",
                           R"({"task": "random", "length": 0, "input": 1, "output": 1})"}) {
    CAPTURE(text);
    CHECK_FALSE(input_error_of([&] { task_from(text); }).empty());
  }
}
