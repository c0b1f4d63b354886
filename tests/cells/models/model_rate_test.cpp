#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "lagtape/cells/lmu.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/models/model.h"
#include "lagtape/cells/rnn.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/cells/unicornn.h"
#include "lagtape/core/error.h"

namespace lagtape {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Model with_layers(std::vector<LayerDefinition> layers) {
  return Model({.layers = std::move(layers),
                .readout = {.units = 1, .at = ReadAt::every_step},
                .precision = Dtype::f64},
               {.input = 1}, 5);
}

double wave(std::int64_t n) { return std::sin(0.4 * static_cast<double>(n)) + 0.3; }

std::vector<double> outputs(Stream<double> stream, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (std::size_t n = 0; n < x.size(); ++n) stream.step(&x[n], &y[n]);
  return y;
}

TEST_CASE("at a whole rate, that many sequences run between each other, each as at its own rate") {
  const Model models[] = {
      with_layers({TauGru{.units = 4, .tau = {3}}, Lstm{.units = 3}}),
      with_layers({Lmu{.units = 3, .order = 4, .theta = 6}}),
  };
  for (const Model& model : models)
    for (const std::int64_t rate : {2, 3})
      for (const Interpolation interpolation : {Interpolation::linear, Interpolation::cubic}) {
        std::vector<double> x;
        for (std::int64_t n = 0; n < 60; ++n) x.push_back(wave(n));
        const std::vector<double> y = outputs(
            model.stream<double>({.rate = static_cast<double>(rate), .interpolation = interpolation}), x);
        for (std::int64_t first = 0; first < rate; ++first) {
          std::vector<double> part;
          for (std::int64_t n = first; n < 60; n += rate) part.push_back(x[n]);
          const std::vector<double> alone = outputs(model.stream<double>(), part);
          for (std::size_t k = 0; k < part.size(); ++k) CHECK(y[first + rate * k] == alone[k]);
        }
      }
}

/// A plain recurrent network at a fractional rate, by hand: the state of so many steps before, on the line through
/// two points or the polynomial through four, or through three for lags of half a step to one.
TEST_CASE("at a fractional rate the state comes from between two steps") {
  Model model = with_layers({Rnn{.units = 2}});
  for (std::int64_t i = 0; i < 4; ++i)  // small weights, which keep it stable where a step looks ahead
    model.parameters()["layers.0.W"].value.set(i, 0.1 * static_cast<double>(i) - 0.2);
  const auto number = [&](const char* name, std::int64_t i) { return model.parameters()[name].value.at(i); };
  struct Row {
    double rate;
    Interpolation interpolation;
    std::vector<double> factors;  // of the states 1, 2, 3 and 4 steps before
  };
  const Row rows[] = {{1.5, Interpolation::linear, {0.5, 0.5}},
                      {1.25, Interpolation::linear, {0.75, 0.25}},
                      {1.5, Interpolation::cubic, {0.3125, 0.9375, -0.3125, 0.0625}},
                      {1.75, Interpolation::cubic, {0.15625, 0.9375, -0.09375}},
                      {0.75, Interpolation::linear, {1.25, -0.25}},
                      {0.75, Interpolation::cubic, {1.5234375, -0.9140625, 0.5078125, -0.1171875}},
                      {2.5, Interpolation::cubic, {-0.0625, 0.5625, 0.5625, -0.0625}}};
  for (const Row& row : rows) {
    std::vector<double> x, h[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    for (std::int64_t n = 0; n < 40; ++n) x.push_back(wave(n));
    const std::vector<double> y =
        outputs(model.stream<double>({.rate = row.rate, .interpolation = row.interpolation}), x);
    for (std::size_t n = 0; n < x.size(); ++n) {
      double before[2] = {0, 0}, wanted = number("readout.W.bias", 0);
      for (int i = 0; i < 2; ++i)
        for (std::size_t k = 0; k < row.factors.size(); ++k)
          before[i] += row.factors[k] * h[i][h[i].size() - 1 - k];
      for (int i = 0; i < 2; ++i) {
        double sum =
            number("layers.0.W.bias", i) + number("layers.0.U.bias", i) + number("layers.0.U", i) * x[n];
        for (int j = 0; j < 2; ++j) sum += number("layers.0.W", 2 * i + j) * before[j];
        h[i].push_back(std::tanh(sum));
        wanted += number("readout.W", i) * h[i].back();
      }
      CHECK(std::abs(y[n] - wanted) < 1e-12);
    }
  }
}

TEST_CASE("a model at rest is at rest at every rate") {
  Model model = with_layers({TauGru{.units = 4, .tau = {3}}, Lstm{.units = 3}});
  model.settle(0.3);
  const std::vector<double> silence(50, 0.3);
  for (const double rate : {1.0, 1.0884, 2.0, 3.7}) {
    const std::vector<double> y = outputs(model.stream<double>({.rate = rate}), silence);
    for (const double value : y) CHECK(std::abs(value - y.front()) < 1e-8);
  }
}

TEST_CASE("states on the grid leave it at another rate") {
  const Model model = with_layers({Unicornn{.units = 3, .layers = 1, .dt = {0.3}}});
  std::vector<double> x;
  for (std::int64_t n = 0; n < 40; ++n) x.push_back(wave(n));
  const std::vector<double> own = outputs(model.stream<double>(), x),
                            other = outputs(model.stream<double>({.rate = 1.5}), x);
  CHECK(std::isfinite(other.back()));
  CHECK(std::abs(other.back() - own.back()) > 1e-6);
}

TEST_CASE("a rate at which the model would ring is refused, and others are not") {
  Model model = with_layers({Rnn{.units = 2}});
  const auto set = [&](double own) {  // W = own times the identity: at the model's own rate the states decay
    for (std::int64_t i = 0; i < 4; ++i) model.parameters()["layers.0.W"].value.set(i, i % 3 == 0 ? own : 0);
  };
  set(-0.9);
  outputs(model.stream<double>(), {0.1, 0.2});
  for (const Interpolation kind : {Interpolation::linear, Interpolation::cubic})
    CHECK_THROWS_WITH_AS(
        model.stream<double>({.rate = 0.75, .interpolation = kind}),
        doctest::Contains(" interpolation the model is not stable: with the constant input 0 "), InputError);
  CHECK_NOTHROW(model.stream<double>({.rate = 1.5, .interpolation = Interpolation::linear}));
  set(0.5);
  for (const double rate : {0.75, 1.3, 1.5, 1.8})
    for (const Interpolation kind : {Interpolation::linear, Interpolation::cubic})
      CHECK_NOTHROW(model.stream<double>({.rate = rate, .interpolation = kind}));
}

TEST_CASE("rates that a model cannot run at are errors") {
  const Model model = with_layers({Lstm{.units = 2}});
  for (const double rate : {0.0, -1.0, 0.49, 8.5, kNan})
    CHECK_THROWS_WITH_AS(
        model.stream<double>({.rate = rate}),
        text_of("[rate] a recurrence runs at 0.5 to 8 times its rate. Got ", rate, ".").c_str(), InputError);
  const Model trained = with_layers({TauGru{.units = 2, .tau = {Delay::trained(8)}}});
  CHECK_THROWS_WITH_AS(trained.stream<double>({.rate = 2}),
                       "[rate] a step with trained lags runs at its own rate only", InputError);
}

}  // namespace
}  // namespace lagtape
