#include "lagtape/cells/unicornn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/cells/support/cell_case.h"
#include "lagtape/tests/recurrence/support/compare.h"

namespace lagtape {
namespace {

using namespace test;

Unicornn options(double alpha) {
  Unicornn cell;
  cell.units = 4;
  cell.layers = 2;
  cell.dt = {0.3, 0.7};
  cell.alpha = alpha;
  cell.dropout = 0;
  return cell;
}

double at(const Layer& layer, const CellCase& c, const std::string& name, std::int64_t i) {
  for (std::size_t p = 0; p < layer.parameters.size(); ++p)
    if (layer.parameters[p].name == name) return c.parameters[p].at(i);
  FAIL("no parameter " << name);
  return 0;
}

TEST_CASE("UnICORNN follows its equations, layer by layer with its own time step") {
  constexpr std::int64_t kSteps = 30, kInput = 3;
  const std::vector<Layer> layers = options(1.5).build(kInput);
  REQUIRE(layers.size() == 2);
  for (const auto& [layer, dt, input] :
       {std::tuple{layers[0], 0.3, kInput}, std::tuple{layers[1], 0.7, std::int64_t{4}}}) {
    CellCase c = cell_case(off_grid(layer), 1, kSteps);
    c.sequence.initial.clear();
    const Tensor outputs = named(run_evaluate(c.sequence), "outputs");
    std::vector<double> y(4), z(4);
    for (std::int64_t n = 0; n < kSteps; ++n) {
      for (std::int64_t i = 0; i < 4; ++i) {
        double drive = at(layer, c, "V.bias", i);
        for (std::int64_t k = 0; k < input; ++k)
          drive += at(layer, c, "V", i * input + k) * c.sequence.batch.x.at(n * input + k);
        const double s = dt / (1 + std::exp(-at(layer, c, "c", i)));
        z[i] -= s * (std::tanh(at(layer, c, "w", i) * y[i] + drive) + 1.5 * y[i]);
        y[i] += s * z[i];
        CHECK(outputs.at(n * 4 + i) == doctest::Approx(y[i]).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE("a step of UnICORNN keeps the area in the plane of each unit's y and z") {
  const Layer layer = off_grid(options(2).build(2)[0]);
  const CellCase c = cell_case(layer, 1, 1);
  constexpr double kStep = 1e-5;
  // d(z', y') / d(z, y) of unit i, by central differences of the windows.
  for (std::int64_t i = 0; i < 4; ++i) {
    double jacobian[2][2];
    for (std::size_t from = 0; from < 2; ++from) {
      SequenceCase high = c.sequence, low = c.sequence;
      high.initial[from] = high.initial[from].clone();
      low.initial[from] = low.initial[from].clone();
      high.initial[from].set(i, high.initial[from].at(i) + kStep);
      low.initial[from].set(i, low.initial[from].at(i) - kStep);
      const Results above = run_evaluate(high), below = run_evaluate(low);
      for (int to = 0; to < 2; ++to) {
        const std::string name = to == 0 ? "z[..T]" : "y[..T]";
        jacobian[to][from] = (named(above, name).at(i) - named(below, name).at(i)) / (2 * kStep);
      }
    }
    CHECK(jacobian[0][0] * jacobian[1][1] - jacobian[0][1] * jacobian[1][0] ==
          doctest::Approx(1).epsilon(1e-9));
    CHECK(std::abs(jacobian[0][1]) > 1e-3);
  }
}

TEST_CASE("a frozen c has no gradient, and the other parameters have theirs") {
  Unicornn frozen = options(1);
  frozen.train_c = false;
  for (const Unicornn& cell : {options(1), frozen}) {
    const Layer layer = cell.build(2)[0];
    const CellCase c = cell_case(layer, 2, 12);
    Tape tape;
    std::vector<Var> parameters;
    for (const Tensor& value : c.parameters) parameters.push_back(tape.variable(value));
    SequenceOp op(c.sequence.stack, Dtype::f64);
    ThreadPool pool(1);
    const Var y = op.outputs(tape, layer.step_weights(parameters), tape.constant(c.sequence.batch.x),
                             c.sequence.batch, pool);
    tape.backward(y, Tensor::full(y.shape(), Dtype::f64, 1));
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      double largest = 0;
      for (std::int64_t i = 0; i < parameters[p].grad().numel(); ++i)
        largest = std::max(largest, std::abs(parameters[p].grad().at(i)));
      CHECK((largest == 0) == (layer.parameters[p].name == "c" && !cell.train_c));
    }
  }
}

TEST_CASE("UnICORNN starts from the values of its authors") {
  const Layer layer = options(1).build(100)[0];
  for (const ParameterDefinition& parameter : layer.parameters) {
    Tensor value(parameter.shape, Dtype::f64);
    initialize(value, parameter.initializer, 3, parameter.name);
    double largest = 0, smallest = 1;
    for (std::int64_t i = 0; i < value.numel(); ++i) {
      largest = std::max(largest, std::abs(value.at(i)));
      smallest = std::min(smallest, value.at(i));
    }
    CAPTURE(parameter.name);
    if (parameter.name == "V") CHECK((largest <= 0.030383 && largest > 0.0295));
    if (parameter.name == "V.bias") CHECK(largest == 0);
    if (parameter.name == "c") CHECK((largest <= 0.1 && smallest < 0.1));
    if (parameter.name == "w") CHECK((largest <= 1 && smallest >= 0));
  }
}

}  // namespace
}  // namespace lagtape
