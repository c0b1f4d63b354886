#include "lagtape/cells/unicornn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/cells/support/cell_case.h"
#include "lagtape/tests/ops/recurrence/support/compare.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

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
  // The Jacobian d(z', y') / d(z, y) of unit i, by central differences of the windows.
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

TEST_CASE("a frozen c is not trained, and the other parameters are") {
  Unicornn frozen = options(1);
  frozen.train_c = false;
  for (const Unicornn& cell : {options(1), frozen}) {
    const Layer layer = cell.build(2)[0];
    for (const ParameterDefinition& parameter : layer.parameters)
      CHECK(parameter.trainable == (cell.train_c || parameter.name != "c"));
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

/// The layers as one stack, with the weights that follow from their first values.
SequenceCase stack_of(const std::vector<Layer>& layers, std::int64_t rows, std::int64_t steps) {
  StackDefinition stack;
  for (const Layer& layer : layers) stack.layers.push_back(layer.program);
  SequenceCase c = filled(std::move(stack), rows, steps, 5);
  add_initial(c, 5);
  c.weights.clear();
  for (const Layer& layer : layers)
    for (const Tensor& weight : cell_case(layer, 1, 1).sequence.weights) c.weights.push_back(weight);
  return c;
}

Unicornn stacked(std::int64_t layers, std::int64_t skipped) {
  Unicornn cell = options(1.5);
  cell.layers = layers;
  cell.dt = {0.4};
  cell.residual_stacking = skipped;
  return cell;
}

/// The outputs [T][4] of the stack of one sequence: every layer of every step by its equations.
std::vector<std::vector<double>> by_hand(const std::vector<Layer>& layers, const SequenceCase& c,
                                         std::int64_t skipped) {
  std::vector<std::vector<double>> y(layers.size() + 1, std::vector<double>(4)), z = y, outputs;
  std::vector<CellCase> cases;
  for (const Layer& layer : layers) cases.push_back(cell_case(layer, 1, 1));
  const std::int64_t inputs = c.batch.x.size(2);
  for (std::int64_t n = 0; n < c.steps(); ++n) {
    y[0].assign(static_cast<std::size_t>(inputs), 0);
    for (std::int64_t k = 0; k < inputs; ++k) y[0][k] = c.batch.x.at(n * inputs + k);
    for (std::size_t l = 1; l < y.size(); ++l) {
      const auto weight = [&](const std::string& name, std::int64_t at_place) {
        return at(layers[l - 1], cases[l - 1], name, at_place);
      };
      const auto times = [&](const std::string& name, const std::vector<double>& v, std::int64_t i) {
        double sum = 0;
        for (std::size_t k = 0; k < v.size(); ++k) sum += weight(name, i * std::ssize(v) + k) * v[k];
        return sum;
      };
      const std::int64_t from = static_cast<std::int64_t>(l) - skipped - 1;
      for (std::int64_t i = 0; i < 4; ++i) {
        double drive = times("V", y[l - 1], i) + weight("V.bias", i);
        if (skipped > 0 && from >= 0) drive += times("Lambda", y[from], i);
        const double s = 0.4 / (1 + std::exp(-weight("c", i)));
        z[l][i] -= s * (std::tanh(weight("w", i) * y[l][i] + drive) + 1.5 * y[l][i]);
        y[l][i] += s * z[l][i];
      }
    }
    outputs.push_back(y.back());
  }
  return outputs;
}

TEST_CASE("UnICORNN with residual stacking sees the layer below and the one before those it skips") {
  for (const auto& row : {std::pair{3, 1}, {5, 1}, {3, 2}, {5, 2}, {6, 3}}) {
    const int count = row.first, skipped = row.second;
    CAPTURE(count);
    CAPTURE(skipped);
    std::vector<Layer> layers;
    for (const Layer& layer : stacked(count, skipped).build(3)) layers.push_back(off_grid(layer));
    SequenceCase c = stack_of(layers, 1, 20);
    c.initial.clear();
    const Tensor outputs = named(run_evaluate(c), "outputs");
    const auto wanted = by_hand(layers, c, skipped);
    for (std::int64_t n = 0; n < 20; ++n)
      for (std::int64_t i = 0; i < 4; ++i)
        CHECK(outputs.at(n * 4 + i) == doctest::Approx(wanted[n][i]).epsilon(1e-10));
    c = stack_of(layers, 3, 20);
    CHECK(differences(run_op(c), run_unrolled(c), 1e-12) == "");
  }
}

TEST_CASE("UnICORNN with residual stacking runs backwards in time, with the bits of every other plan") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Unicornn cell = stacked(5, 2);
    cell.dropout = 0.2;
    std::vector<Layer> layers = cell.build(3);
    for (Layer& layer : layers)
      for (StateDefinition& state : layer.program.states) state.arithmetic = Arithmetic::grid;
    const SequenceCase c = converted(stack_of(layers, 5, 70), dtype);
    const Results expected = run_op(c, {.plan = MemoryPlan::full});
    bool reverses = false;
    for (const PlanCost& plan : SequenceOp(c.stack, dtype).plans(c.rows(), c.steps(), 2)) {
      CAPTURE(name_of(plan.plan));
      reverses = reverses || plan.plan == MemoryPlan::reversible;
      CHECK(bit_differences(run_op(c, {.plan = plan.plan, .chunk = 16}, 2), expected) == "");
    }
    CHECK(reverses);
  }
}

}  // namespace
}  // namespace lagtape
