#include "lagtape/data/tasks/dde_response.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "lagtape/data/generators/dormand_prince.h"
#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

double at(const std::vector<double>& h, std::int64_t n) { return h[static_cast<std::size_t>(n)]; }

}  // namespace

TEST_CASE("the linear response is exact over its first two delays") {
  for (std::int64_t delay : {50, 100}) {
    const std::vector<double> h = dde_response({.delay = delay}, 0, 2 * delay);
    const double tau = 0.01 * static_cast<double>(delay);
    for (std::int64_t n = 0; n <= 2 * delay; ++n) {
      CAPTURE(n);
      const double t = 0.01 * static_cast<double>(n);
      const double exact = n <= delay ? std::sin(t) : std::sin(t) + std::cos(t - tau) - 1;
      CHECK(std::abs(at(h, n) - exact) < 1e-10);
    }
  }
}

TEST_CASE("the linear response ends in the known oscillation") {
  struct Known {
    std::int64_t delay;
    double amplitude, phase;
  };
  for (const Known& known : {Known{50, 0.98004, -0.53540}, Known{100, 1.77595, -0.28540}}) {
    // The step nearly divides the period and the delay. Least squares give the coefficients of cos and sin.
    const std::vector<double> h = dde_response({.delay = known.delay}, 0, 10'000);
    double cc = 0, cs = 0, ss = 0, hc = 0, hs = 0;
    for (std::int64_t n = 9000; n <= 10'000; ++n) {
      const double c = std::cos(0.01 * static_cast<double>(n)), s = std::sin(0.01 * static_cast<double>(n));
      cc += c * c, cs += c * s, ss += s * s, hc += at(h, n) * c, hs += at(h, n) * s;
    }
    const double determinant = cc * ss - cs * cs;
    const double a = (hc * ss - hs * cs) / determinant, b = (hs * cc - hc * cs) / determinant;
    CHECK(std::abs(std::hypot(a, b) - known.amplitude) < 1e-5);
    CHECK(std::abs(std::atan2(-b, a) - known.phase) < 1e-5);
  }
}

TEST_CASE("without a delay the linear response is that of an ordinary equation") {
  const std::vector<double> h = dde_response({.delay = 0}, 0, 2000);
  for (std::int64_t n = 0; n <= 2000; ++n) {
    const double t = 0.01 * static_cast<double>(n);
    CHECK(std::abs(at(h, n) - (std::cos(t) + std::sin(t) - std::exp(-t)) / 2) < 1e-10);
  }
}

TEST_CASE("without a delay the saturating response is that of an ordinary equation") {
  auto slope = [](std::span<const double> y, std::span<double> slope) {  // y[1] is the time
    slope[0] = std::tanh(dde_forcing(true, y[1]) - y[0]) - y[0];
    slope[1] = 1;
  };
  const auto exact = dormand_prince(slope, std::array{0.0, 0.0}, 0.01, 2001, {1e-11, 1e-12});
  const std::vector<double> h = dde_response({.saturating = true, .delay = 0}, 0, 2000);
  for (std::int64_t n = 0; n <= 2000; ++n) {
    CHECK(std::abs(at(h, n) - exact[static_cast<std::size_t>(2 * n)]) < 2e-6);
  }
}

TEST_CASE("over its first delay the saturating response is an integral of the forcing, then differs") {
  const std::vector<double> h = dde_response({.saturating = true, .delay = 50}, 0, 100);
  const std::vector<double> never = dde_response({.saturating = true, .delay = 1000}, 0, 100);
  for (std::int64_t n : {1, 10, 50}) {
    // The integral from 0 to t of exp(u - t) tanh(s(u)), by Simpson's rule with 200 parts a step.
    const std::int64_t parts = 200 * n;
    const double t = 0.01 * static_cast<double>(n), width = t / static_cast<double>(parts);
    double sum = 0;
    for (std::int64_t k = 0; k <= parts; ++k) {
      const double u = width * static_cast<double>(k), weight = k == 0 || k == parts ? 1 : k % 2 == 1 ? 4 : 2;
      sum += weight * std::exp(u - t) * std::tanh(dde_forcing(true, u));
    }
    CHECK(std::abs(at(h, n) - sum * width / 3) < 1e-6);
  }
  CHECK(at(h, 50) == at(never, 50));
  CHECK(std::abs(at(h, 100) - at(never, 100)) > 0.01);
}

TEST_CASE("the response does not depend on how far apart its steps are") {
  const std::vector<double> fine = dde_response({.saturating = true, .delay = 50}, 0.3, 2000);
  const std::vector<double> wide = dde_response({.saturating = true, .delay = 10, .step = 0.05}, 0.3, 400);
  REQUIRE(wide.size() == 401);
  for (std::int64_t n = 0; n <= 400; ++n) CHECK(std::abs(at(wide, n) - at(fine, 5 * n)) < 1e-12);
  CHECK(dde_response({.delay = 0, .step = 0.015}, 0, 3).size() == 4);
}

TEST_CASE("the forcing of the saturating equation is a sum of four cosines") {
  for (double t : {0.0, 0.3, 7.0}) {
    double sum = 0;
    for (int n = 0; n < 4; ++n) sum += std::pow(3.0, -n) * std::cos(std::pow(4.0, n) * 2 * t);
    CHECK(dde_forcing(true, t) == doctest::Approx(sum));
    CHECK(dde_forcing(false, t) == std::cos(t));
  }
}

TEST_CASE("the input is the forcing and the target the response at the same times") {
  const Task task = load(R"({"task": "dde_response", "tau": 1})");
  CHECK(task.shape.length == 2001);
  CHECK(task.train->size() == 1);
  const Batch batch = take(*task.train, 0, 1);
  CHECK(values_of(batch.y) == dde_response({.delay = 100}, 0, 2000));
  CHECK(batch.x.at(2000) == doctest::Approx(std::cos(20.0)));
  CHECK(values_of(take(*task.test, 0, 1).x) == values_of(batch.x));
}

TEST_CASE("shifted forcings differ, and their responses are shifted once the start is forgotten") {
  const Task task = load(R"({"task": "dde_response", "random_shift": true, "train": 3, "span": 40})", 3);
  const Batch batch = take(*task.train, 0, 3);
  CHECK(batch.x.at(0) != batch.x.at(4001));
  for (std::int64_t row = 0; row < 3; ++row) {
    const double *x = batch.x.values<double>().data() + row * 4001,
                 *y = batch.y.values<double>().data() + row * 4001;
    CHECK(y[0] == 0);
    for (std::int64_t n = 3000; n < 4000; ++n) {  // cos(t + phase - tau): -h(t - tau) + s = h'
      const double slope = (y[n + 1] - y[n - 1]) / 0.02;
      CHECK(std::abs(slope - (x[n] - y[n - 50])) < 1e-4);
    }
  }
  CHECK(values_of(take(*task.train, 1, 1).x) != values_of(take(*task.valid, 0, 1).x));
}

TEST_CASE("a delay or a span that is not a whole number of steps is refused") {
  const std::string message = input_error_of(
      [] { task_from(R"({"task": "dde_response", "tau": 0.505, "span": 20.001, "step": 0.01})"); });
  CHECK(has(message, "/data/tau: must be a whole number of steps of 0.01. Got 0.505."));
  CHECK(has(message, "/data/span"));
  CHECK(has(input_error_of([] { task_from(R"({"task": "dde_response", "span": 1e300})"); }), "at most"));
}
