#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

/// The symbol that one-hot row `place` of x shows; -1 unless exactly one entry is 1 and the others 0.
std::int64_t shown(const Batch& batch, std::int64_t place) {
  std::int64_t symbol = -1, ones = 0;
  for (std::int64_t i = 0; i < 10; ++i) {
    const double x = batch.x.at(place * 10 + i);
    if (x == 1) symbol = i, ++ones;
    if (x != 0 && x != 1) return -1;
  }
  return ones == 1 ? symbol : -1;
}

}  // namespace

TEST_CASE("the last ten classes are the ten letters, everything else is blank") {
  for (std::int64_t blanks : {1, 7, 300}) {
    CAPTURE(blanks);
    const Task task = load(text_of(R"({"task": "copy", "blanks": )", blanks, "}"), 5);
    const std::int64_t length = blanks + 20;
    CHECK(task.shape.length == length);
    CHECK(task.shape.classes == 9);
    CHECK(task.shape.every_step);
    for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
      const Batch batch = take(*task.train, 0, 20, dtype);
      REQUIRE(batch.x.shape() == Shape{20, length, 10});
      REQUIRE(batch.classes.size() == static_cast<std::size_t>(20 * length));
      for (std::int64_t row = 0; row < 20; ++row) {
        for (std::int64_t n = 0; n < length; ++n) {
          const std::int64_t symbol = shown(batch, row * length + n);
          const std::int32_t wanted = batch.classes[static_cast<std::size_t>(row * length + n)];
          if (n < 10) {
            CHECK((symbol >= 1 && symbol <= 8));
            CHECK(batch.classes[static_cast<std::size_t>(row * length + length - 10 + n)] == symbol);
          } else {
            CHECK(symbol == (n == 10 + blanks ? 9 : 0));
          }
          if (n < length - 10) CHECK(wanted == 0);
        }
      }
    }
  }
}

TEST_CASE("the letters are even, so that without memory the loss is the known one") {
  const Task task = load(R"({"task": "copy", "blanks": 1000})", 2);
  const Batch batch = take(*task.train, 0, 500, Dtype::f32);
  std::vector<double> count(9);
  for (std::int32_t c : batch.classes) count[static_cast<std::size_t>(c)] += 1;
  CHECK(count[0] == 500 * 1010);
  double entropy = 0;  // entropy of the letters, in nats
  for (std::size_t c = 1; c < 9; ++c) entropy -= count[c] / 5000 * std::log(count[c] / 5000);
  CHECK(std::abs(10 * entropy / 1020 - 0.0203867) < 1e-4);
}

TEST_CASE("copy is fresh by default, and repeatable by seed, split and index") {
  const Task task = load(R"({"task": "copy", "blanks": 5})", 3);
  CHECK(task.fresh);
  CHECK(task.train->size() == Dataset::kUnlimited);
  auto letters = [](const Task& from, const char* split, std::int64_t index) {
    return take(from.split(split), index, 1).classes;
  };
  CHECK(letters(task, "train", 1'000'000'007) == letters(task, "train", 1'000'000'007));
  CHECK(letters(task, "train", 0) != letters(task, "train", 1));
  CHECK(letters(task, "train", 0) != letters(task, "valid", 0));
  CHECK(letters(load(R"({"task": "copy", "blanks": 5})", 4), "train", 0) != letters(task, "train", 0));
  const Task fixed = load(R"({"task": "copy", "blanks": 5, "fresh": false, "train": 7})", 3);
  CHECK_FALSE(fixed.fresh);
  CHECK(fixed.train->size() == 7);
  CHECK(letters(fixed, "train", 6) == letters(task, "train", 6));
  CHECK(has(input_error_of([] { task_from(R"({"task": "copy", "train": 7})"); }), "\"fresh\": false"));
}
