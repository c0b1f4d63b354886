#include "lagtape/data/tasks/frequency.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

/// The smallest distance between the noise-free signals of two classes.
double least_distance(const std::string& options) {
  const Batch batch = take(*load(R"({"task": "frequency")" + options + "}").train, 0, 100);
  const double* x = batch.x.values<double>().data();
  double least = 1e300;
  for (std::int64_t a = 0; a < 100; ++a) {
    for (std::int64_t b = 0; b < a; ++b) {
      double sum = 0;
      for (std::int64_t n = 0; n < 1000; ++n) sum += std::pow(x[a * 1000 + n] - x[b * 1000 + n], 2);
      least = std::min(least, std::sqrt(sum));
    }
  }
  return least;
}

}  // namespace

TEST_CASE("the frequencies go from 1 to 4096 Hz, ten sequences a class") {
  CHECK(class_frequency(0) == 1);
  CHECK(class_frequency(99) == 4096);
  CHECK(class_frequency(1) - class_frequency(0) == doctest::Approx(4095.0 / 99));
  const Task task = load(R"({"task": "frequency"})");
  CHECK(task.shape.length == 1000);
  CHECK(task.shape.classes == 100);
  CHECK_FALSE(task.shape.every_step);
  for (const char* split : {"train", "valid", "test"}) {
    CHECK(task.split(split).size() == 1000);
    const Batch batch = take(task.split(split), 0, 1000, Dtype::f32);
    std::vector<int> count(100);
    for (std::int32_t c : batch.classes) ++count[static_cast<std::size_t>(c)];
    CHECK(count == std::vector<int>(100, 10));
  }
}

TEST_CASE("without noise a sequence is the cosine of its class, on either grid") {
  for (auto [options, seconds] : {std::pair{"", 1000.0}, std::pair{R"(, "endpoint": true)", 999.0}}) {
    const Batch batch = take(*load(text_of(R"({"task": "frequency")", options, "}")).train, 53, 1);
    CHECK(batch.classes.at(0) == 53);
    for (std::int64_t n = 0; n < 1000; ++n) {
      const double turns = std::fmod(class_frequency(53) * static_cast<double>(n) / seconds, 1.0);
      CHECK(std::abs(batch.x.at(n) - std::cos(2 * std::numbers::pi * turns)) < 1e-9);
    }
  }
}

TEST_CASE("aliased frequencies remain as far apart as is known") {
  CHECK(std::abs(least_distance("") - 20.4) < 0.05);
  CHECK(std::abs(least_distance(R"(, "endpoint": true)") - 30.6) < 0.05);
}

TEST_CASE("noise has its size, differs between sequences, and leaves a matched filter without error") {
  const Task clean = load(R"({"task": "frequency"})", 1),
             noisy = load(R"({"task": "frequency", "noise": 0.1})", 1);
  const Batch signals = take(*clean.train, 0, 100), heard = take(*noisy.test, 0, 200);
  const double *s = signals.x.values<double>().data(), *x = heard.x.values<double>().data();
  double squares = 0;
  for (std::int64_t i = 0; i < 200; ++i) {
    double least = 1e300;
    std::int64_t nearest = -1;
    for (std::int64_t c = 0; c < 100; ++c) {
      double sum = 0;
      for (std::int64_t n = 0; n < 1000; ++n) sum += std::pow(x[i * 1000 + n] - s[c * 1000 + n], 2);
      if (sum < least) least = sum, nearest = c;
    }
    CHECK(nearest == heard.classes[static_cast<std::size_t>(i)]);
    squares += least;
  }
  CHECK(std::abs(std::sqrt(squares / 200'000) - 0.1) < 0.001);
  CHECK(x[0] != x[100 * 1000]);
  CHECK(values_of(take(*noisy.test, 7, 1).x) == values_of(take(*noisy.test, 7, 1).x));
  CHECK(values_of(take(*noisy.test, 7, 1).x) != values_of(take(*noisy.train, 7, 1).x));
}
