#include "lagtape/cells/models/recurrence.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "lagtape/cells/layers/bidirectional.h"
#include "lagtape/cells/layers/dropout.h"
#include "lagtape/cells/lipschitz_rnn.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/models/model.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// Weights that are functions of parameters, a delay, and a layer without parameters.
ModelDefinition three_layers() {
  return {.layers = {LipschitzRnn{.units = 4}, Dropout{.rate = 0.5}, TauGru{.units = 3, .tau = {5}}},
          .precision = Dtype::f64};
}

Tensor cosines(const Shape& shape, double frequency) {
  Tensor x(shape, Dtype::f64);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set(i, std::cos(frequency * static_cast<double>(i)));
  return x;
}

double product(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) sum += a.at(i) * b.at(i);
  return sum;
}

struct Case {
  Recurrence recurrence{three_layers(), 2, ReadAt::every_step};
  std::vector<Tensor> parameters = recurrence.first_values(3);
  SequenceBatch batch;
  Tensor output_gradient = cosines({3, 20, 3}, 0.3);
  ThreadPool pool{2};

  Case() {
    batch.x = cosines({3, 20, 2}, 0.7);
    batch.lengths = {20, 4, 11};
  }
  Recurrence::Outputs forward() {
    return recurrence.forward(parameters, batch, pool, {}, {.weights = true, .x = true});
  }
  double loss() { return product(forward().outputs(), output_gradient); }
  /// The derivative of the loss by a number, by central differences.
  double slope(double& number) {
    constexpr double kStep = 1e-5;
    const double value = number;
    number = value + kStep;
    const double ahead = loss();
    number = value - kStep;
    const double behind = loss();
    number = value;
    return (ahead - behind) / (2 * kStep);
  }
};

TEST_CASE("a recurrence has the gradients of its parameters and inputs") {
  Case c;
  CHECK(c.recurrence.has_draws());
  const Recurrence::Outputs::Gradients gradients = c.forward().backward(c.output_gradient);
  REQUIRE(gradients.parameters.size() == c.recurrence.parameters().size());
  for (std::size_t p = 0; p < c.parameters.size(); ++p) {
    CAPTURE(c.recurrence.parameters()[p].name);
    const std::int64_t last = c.parameters[p].numel() - 1;
    const double slope = c.slope(c.parameters[p].values<double>()[static_cast<std::size_t>(last)]);
    CHECK(gradients.parameters[p].at(last) == doctest::Approx(slope).epsilon(1e-6));
    CHECK(std::abs(slope) > 1e-6);
  }
  CHECK(gradients.x.at(5) == doctest::Approx(c.slope(c.batch.x.values<double>()[5])).epsilon(1e-6));
  CHECK(gradients.x.at(60) == 0);  // beyond the second row's length
}

TEST_CASE("its evaluation gives the outputs and the window of a pass") {
  Case c;
  const Recurrence::Outputs outputs = c.forward();
  Window after;
  const Tensor y = c.recurrence.evaluate(c.parameters, c.batch, c.pool, {}, after);
  CHECK(std::memcmp(y.raw(), outputs.outputs().raw(), static_cast<std::size_t>(y.numel()) * 8) == 0);
  REQUIRE(after.states.size() == outputs.final_window().states.size());
  CHECK(product(after.states[0], after.states[0]) > 0.01);
  for (std::size_t s = 0; s < after.states.size(); ++s)
    CHECK(product(after.states[s], after.states[s]) ==
          product(outputs.final_window().states[s], outputs.final_window().states[s]));
}

TEST_CASE("rows that begin again are rows of their pieces") {
  Case c;
  std::vector<std::uint8_t> mask(60, 0);
  mask[0] = mask[9] = mask[20 + 3] =
      1;  // two in the first row, one before the last of four steps of the second
  Window after;
  const Tensor y = c.recurrence.evaluate(c.parameters, c.batch, c.pool, {}, after, mask);
  struct Piece {
    std::int64_t row, first, steps;
    bool ends;
  };
  for (const Piece& piece :
       {Piece{0, 0, 9, false}, {0, 9, 11, true}, {1, 0, 3, false}, {1, 3, 1, true}, {2, 0, 11, true}}) {
    SequenceBatch alone;
    alone.x = Tensor({1, piece.steps, 2}, Dtype::f64);
    for (std::int64_t i = 0; i < 2 * piece.steps; ++i)
      alone.x.set(i, c.batch.x.at((20 * piece.row + piece.first) * 2 + i));
    Window own;
    const Tensor part = c.recurrence.evaluate(c.parameters, alone, c.pool, {}, own);
    for (std::int64_t i = 0; i < part.numel(); ++i)
      CHECK(y.at((20 * piece.row + piece.first) * 3 + i) == part.at(i));
    if (piece.ends) CHECK(after.states.back().at(3 * (3 * 5 + piece.row)) == own.states.back().at(3 * 5));
  }
  mask.pop_back();
  CHECK_THROWS_WITH_AS(c.recurrence.evaluate(c.parameters, c.batch, c.pool, {}, after, mask),
                       doctest::Contains("60 numbers, one a step"), InputError);
}

TEST_CASE("its parameters are those of a model with the same layers") {
  ModelDefinition definition = three_layers();
  const Recurrence recurrence(definition, 2, ReadAt::last_step);
  definition.readout.units = 1;
  const Model model(definition, {.input = 2}, 3);
  std::size_t p = 0;
  for (const Tensor& value : recurrence.first_values(3)) {
    const Parameter& parameter = *(model.parameters().begin() + static_cast<std::ptrdiff_t>(p));
    CHECK(recurrence.parameters()[p++].name == parameter.name);
    CHECK(std::memcmp(value.raw(), parameter.value.raw(), static_cast<std::size_t>(value.numel()) * 8) == 0);
  }
  CHECK(p + 2 == model.parameters().size());
}

TEST_CASE("what is no part of a recurrence is refused") {
  const ModelDefinition both{.layers = {{Bidirectional{.merge = "sum"}, Lstm{.units = 4}}}};
  CHECK_THROWS_WITH_AS(Recurrence(both, 2, ReadAt::every_step),
                       doctest::Contains("recurrence: /model/layers: 'bidirectional' takes whole sequences"),
                       InputError);
  Case c;
  c.parameters.pop_back();
  CHECK_THROWS_WITH_AS(c.forward(), doctest::Contains("expected 20 parameters, got 19"), InputError);
  c.parameters.push_back(Tensor({7}, Dtype::f64));
  CHECK_THROWS_WITH_AS(c.forward(), "[recurrence] layers.2.U4.bias: expected f64 [3], got f64 [7]",
                       InputError);
}

}  // namespace
}  // namespace lagtape
