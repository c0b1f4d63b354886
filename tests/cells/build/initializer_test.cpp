#include "lagtape/cells/build/initializer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lagtape/cells/build/read_initializer.h"
#include "lagtape/core/error.h"

namespace lagtape {
namespace {

Tensor drawn(const Initializer& initializer, Shape shape, Dtype dtype = Dtype::f64, std::uint64_t seed = 1,
             std::string_view name = "layers.0.W") {
  Tensor value(std::move(shape), dtype);
  initialize(value, initializer, seed, name);
  return value;
}

struct Statistics {
  double mean = 0, deviation = 0, smallest = 0, largest = 0;
};

Statistics statistics(const Tensor& value) {
  const auto all = value.values<double>();
  Statistics s;
  for (const double v : all) s.mean += v / static_cast<double>(all.size());
  for (const double v : all) s.deviation += (v - s.mean) * (v - s.mean) / static_cast<double>(all.size());
  s.deviation = std::sqrt(s.deviation);
  s.smallest = *std::ranges::min_element(all);
  s.largest = *std::ranges::max_element(all);
  return s;
}

// With 200 x 300 numbers the mean is known to deviation / 245, and the deviation to a 350th.
const Shape kMatrix = {200, 300};

void check_uniform(const Initializer& initializer, double bound) {
  const Statistics s = statistics(drawn(initializer, kMatrix));
  CHECK(std::abs(s.mean) < 0.012 * bound);
  CHECK(s.deviation == doctest::Approx(bound / std::sqrt(3.0)).epsilon(0.012));
  CHECK(s.largest <= bound);
  CHECK(s.smallest >= -bound);
  CHECK(s.largest > 0.999 * bound);
  CHECK(s.smallest < -0.999 * bound);
}

void check_normal(const Initializer& initializer, double deviation) {
  const Statistics s = statistics(drawn(initializer, kMatrix));
  CHECK(std::abs(s.mean) < 0.017 * deviation);
  CHECK(s.deviation == doctest::Approx(deviation).epsilon(0.012));
  CHECK(s.largest > 3.5 * deviation);
}

TEST_CASE("initializers have the spread that their names promise") {
  check_uniform(Initializer::uniform_of(16), 0.25);
  check_uniform({Initializer::Kind::kaiming_uniform, std::sqrt(2.0)}, std::sqrt(6.0 / 300));
  const Initializer truncated{Initializer::Kind::truncated_normal, 3, 0.5};
  const Statistics s = statistics(drawn(truncated, kMatrix));
  CHECK(std::abs(s.mean - 3) < 0.01);
  CHECK(s.deviation == doctest::Approx(0.8796 * 0.5).epsilon(0.012));  // a normal cut at 2 deviations
  CHECK((s.smallest >= 2 && s.smallest < 2.01 && s.largest <= 4 && s.largest > 3.99));
  check_uniform({Initializer::Kind::xavier_uniform, 1}, std::sqrt(6.0 / 500));
  check_normal(Initializer::normal(0, 3), 3);
  check_normal(Initializer::kaiming_normal(), std::sqrt(2.0 / 300));
  check_normal({Initializer::Kind::xavier_normal, 2}, 2 * std::sqrt(2.0 / 500));
  const Statistics shifted = statistics(drawn(Initializer::uniform(2, 4), kMatrix));
  CHECK(shifted.mean == doctest::Approx(3).epsilon(0.003));
  CHECK(shifted.smallest >= 2);
  CHECK(statistics(drawn(Initializer::normal(5, 1), kMatrix)).mean == doctest::Approx(5).epsilon(0.003));
  const Statistics chrono = statistics(drawn(Initializer::log_uniform(-2, 50), kMatrix));
  CHECK(chrono.smallest >= -2 * std::log(50));
  CHECK(chrono.smallest < -1.999 * std::log(50));
  CHECK(chrono.largest <= 0);
  CHECK(chrono.mean == doctest::Approx(-2 * (50 * std::log(50) / 49 - 1)).epsilon(0.005));
  const Statistics constant = statistics(drawn(Initializer::constant(-3), {7}));
  CHECK(constant.smallest == -3);
  CHECK(constant.largest == -3);
}

TEST_CASE("an orthogonal matrix has orthonormal columns or rows, whichever are fewer, times its gain") {
  for (const Shape& shape : {Shape{20, 20}, Shape{30, 11}, Shape{11, 30}}) {
    const Tensor q = drawn({Initializer::Kind::orthogonal, 2}, shape);
    const std::int64_t out = shape[0], in = shape[1], n = std::min(out, in), m = std::max(out, in);
    const auto element = [&](std::int64_t i, std::int64_t k) {
      return q.at(out <= in ? i * in + k : k * in + i);
    };
    double worst = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double dot = 0;
        for (std::int64_t k = 0; k < m; ++k) dot += element(i, k) * element(j, k);
        worst = std::max(worst, std::abs(dot - (i == j ? 4 : 0)));
      }
    }
    CHECK(worst < 1e-13);
  }
}

TEST_CASE("a draw depends on seed, name and element, and on nothing else") {
  const Initializer normal = Initializer::normal(0, 1);
  const Tensor a = drawn(normal, {8});
  CHECK(a.at(3) == drawn(normal, {4, 4}).at(3));
  CHECK(a.at(3) != drawn(normal, {8}, Dtype::f64, 2).at(3));
  CHECK(a.at(3) != drawn(normal, {8}, Dtype::f64, 1, "layers.1.W").at(3));
  CHECK(a.at(3) != a.at(4));
  CHECK(drawn(normal, {8}, Dtype::f32).at(3) == static_cast<float>(a.at(3)));
}

TEST_CASE("an initializer for matrices refuses a vector") {
  CHECK_THROWS_WITH_AS(drawn(Initializer::kaiming_normal(), {8}),
                       "[initialize] this initializer is for matrices [out, in]. Got layers.0.W [8].",
                       InputError);
}

TEST_CASE("the identity has its gain where row and column have one number") {
  for (const Shape& shape : {Shape{3, 3}, Shape{2, 4}, Shape{4, 2}}) {
    const Tensor value = drawn({Initializer::Kind::identity, 0.5}, shape);
    for (std::int64_t i = 0; i < value.numel(); ++i)
      CHECK(value.at(i) == (i / shape[1] == i % shape[1] ? 0.5 : 0));
  }
}

TEST_CASE("initializers are read from a name or an object") {
  using Kind = Initializer::Kind;
  const auto read = [](const std::string& json) {
    JsonErrors errors;
    const Json value = parse_json("[" + json + "]", "test");
    const Initializer initializer = read_initializer(value[0], "/init/b", errors);
    errors.raise("e");
    return initializer;
  };
  CHECK(read(R"("zeros")") == Initializer::constant(0));
  CHECK(read(R"("ones")") == Initializer::constant(1));
  CHECK(read(R"({"type": "constant", "value": 0.25})") == Initializer::constant(0.25));
  CHECK(read(R"({"type": "uniform", "low": -2, "high": 3})") == Initializer::uniform(-2, 3));
  CHECK(read(R"({"type": "normal", "deviation": 0.1})") == Initializer::normal(0, 0.1));
  CHECK(read(R"({"type": "log_uniform", "largest": 784})") == Initializer::log_uniform(1, 784));
  CHECK(read(R"("kaiming_normal")") == Initializer::kaiming_normal());
  CHECK(read(R"({"type": "orthogonal", "gain": 3})") == Initializer{Kind::orthogonal, 3});
  CHECK_THROWS_WITH_AS(read(R"("zero")"),
                       doctest::Contains("/init/b/type: unknown value 'zero'; did you mean 'zeros'?"),
                       InputError);
  CHECK(read("0.5") == Initializer::constant(0.5));
  CHECK(read(R"({"type": "chrono", "longest": 784})") == Initializer::log_uniform(1, 783));
  CHECK_THROWS_WITH_AS(read("[3]"), "e: /init/b: expected an object, got an array", InputError);
  CHECK_THROWS_WITH_AS(read(R"({"type": "normal", "low": 1})"),
                       doctest::Contains("/init/b/low: unknown key 'low'"), InputError);
  CHECK_THROWS_WITH_AS(read(R"({"type": "uniform", "low": 2})"),
                       "e: /init/b/low: low must not be above high.", InputError);
}

TEST_CASE("an initializer, written as JSON, reads as itself") {
  for (const InitializerEntry& entry : initializers()) {
    CAPTURE(entry.name);
    JsonErrors errors;
    const Initializer initializer = read_initializer(Json(std::string(entry.name)), "", errors);
    CHECK(errors.empty());
    CHECK(read_initializer(json_of(initializer), "", errors) == initializer);
    CHECK(errors.empty());
  }
  CHECK(json_of(Initializer::constant(2)).dump() == R"({"type":"constant","value":2.0})");
  CHECK(json_of(Initializer::uniform(-1, 3)).dump() == R"({"type":"uniform","low":-1.0,"high":3.0})");
}

}  // namespace
}  // namespace lagtape
