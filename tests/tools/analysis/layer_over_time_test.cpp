#include "lagtape/tools/analysis/layer_over_time.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "lagtape/core/random.h"
#include "lagtape/ops/recurrence/equations/equations.h"

namespace lagtape {

namespace {

/// One state h [units] by equations; the weights W and V are square, U is [units, input].
StepProgram program_of(std::int64_t units, const std::vector<std::string>& weights,
                       const std::vector<std::string>& step) {
  EquationCell cell;
  cell.states = {{"h", {"units"}}};
  for (const std::string& name : weights)
    cell.weights.push_back({name, {"units", name == "U" ? "input" : "units"}});
  cell.step = step;
  cell.output = "h'";
  return compile_equations(cell, units, 1);
}

Tensor drawn(Shape shape, std::uint64_t seed, double scale) {
  Tensor tensor(std::move(shape), Dtype::f64);
  const RandomStream random(seed, 1);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    tensor.set(i, scale * random.normal_at(static_cast<std::uint64_t>(i)));
  return tensor;
}

struct Case {
  StepProgram program;
  std::vector<Tensor> weights, initial;
  Tensor x;

  LayerOverTime layer(std::int64_t bytes = 1 << 20) const {
    return {program, weights, x, initial, 0, 4, bytes};
  }
};

Case make_case(StepProgram program, std::int64_t steps) {
  Case c{std::move(program), {}, {}, {}};
  for (std::size_t w = 0; w < c.program.weights.size(); ++w)
    c.weights.push_back(drawn(c.program.weights[w].shape, 10 + w, 0.5));
  for (std::size_t s = 0; s < c.program.states.size(); ++s)
    c.initial.push_back(drawn(
        {c.program.history(static_cast<int>(s)) + 1, 1, c.program.states[s].shape.width()}, 20 + s, 0.3));
  c.x = drawn({steps, c.program.input.width()}, 30, 1);
  return c;
}

/// Derivatives by the first state after each step, [step] -> [rows, width].
std::vector<Tensor> gradients(const Case& c, const LayerOverTime::Seeds& seeds,
                              std::int64_t bytes = 1 << 20) {
  LayerOverTime layer = c.layer(bytes);
  layer.forward([](std::int64_t, const UnrollTrace::Step&) {});
  std::vector<Tensor> found(static_cast<std::size_t>(c.x.size(0)));
  layer.backward(
      seeds,
      [&](std::int64_t step, std::span<const Tensor> of_states) { found[step] = of_states[0].clone(); },
      false);
  return found;
}

/// Seeds of one row: the whole state after the last step.
LayerOverTime::Seeds last_state(const StepProgram& program) {
  LayerOverTime::Seeds seeds;
  for (const StateDefinition& state : program.states)
    seeds.states.push_back(Tensor::full({1, state.shape.width()}, Dtype::f64, 1));
  return seeds;
}

}  // namespace

TEST_CASE("h' = a h + x remembers by powers of a, however the steps are cut") {
  Case c = make_case(program_of(1, {"W", "U"}, {"h' = W @ h + U @ x"}), 40);
  c.weights[0].set(0, 0.9);
  for (const std::int64_t bytes : {1, 20000, 1 << 20}) {
    const std::vector<Tensor> found = gradients(c, last_state(c.program), bytes);
    for (std::int64_t lag = 0; lag < 40; ++lag)
      CHECK(found[39 - lag].item() == doctest::Approx(std::pow(0.9, lag)).epsilon(1e-13));
  }
}

TEST_CASE("a linear delay recurrence has the resolvent of its sum over hops") {
  // dh_T / dh_{T-r} = sum over k of binom(r - k m, k) a^(r - k (m + 1)) b^k
  const std::int64_t m = 3, steps = 30;
  const double a = 0.7, b = -0.4;
  Case c = make_case(program_of(1, {"W", "V", "U"}, {"h' = W @ h + V @ h[-3] + U @ x"}), steps);
  c.weights[0].set(0, a);
  c.weights[1].set(0, b);
  for (const std::int64_t bytes : {1, 20000, 1 << 20}) {
    const std::vector<Tensor> found = gradients(c, last_state(c.program), bytes);
    for (std::int64_t r = 0; r < steps; ++r) {
      double expected = 0;
      for (std::int64_t k = 0; k * (m + 1) <= r; ++k) {
        const double n = static_cast<double>(r - k * m), of = static_cast<double>(k);
        const double ways = std::exp(std::lgamma(n + 1) - std::lgamma(of + 1) - std::lgamma(n - of + 1));
        expected += ways * std::pow(a, r - k * (m + 1)) * std::pow(b, k);
      }
      CHECK(found[steps - 1 - r].item() == doctest::Approx(expected).epsilon(1e-11));
    }
  }
}

TEST_CASE("derivatives by states are those of central differences") {
  const std::int64_t steps = 12, units = 3, m = 2;
  const Case c =
      make_case(program_of(units, {"W", "V", "U"},
                           {"g = sigmoid(V @ h)", "h' = (1 - g) * h + g * tanh(W @ h[-2] + U @ x)"}),
                steps);
  LayerOverTime::Seeds seeds;
  seeds.outputs = drawn({1, steps, units}, 40, 1);
  const std::vector<Tensor> found = gradients(c, seeds, 1);

  // The same from after step k on: its window holds the states up to there.
  std::vector<Tensor> states;
  for (std::int64_t i = 0; i <= m; ++i) {
    Tensor state({units}, Dtype::f64);
    for (std::int64_t j = 0; j < units; ++j) state.set(j, c.initial[0].at(i * units + j));
    states.push_back(state);
  }
  c.layer().forward([&](std::int64_t, const UnrollTrace::Step& seen) {
    states.push_back(seen.states[0].value().clone().reshaped({units}));
  });
  const auto sum_from = [&](std::int64_t k, const Tensor& h_k) {
    double sum = 0;
    for (std::int64_t j = 0; j < units; ++j) sum += h_k.at(j) * seeds.outputs.at(k * units + j);
    if (k == steps - 1) return sum;
    Tensor window({m + 1, 1, units}, Dtype::f64), rest({steps - 1 - k, 1}, Dtype::f64);
    for (std::int64_t i = 0; i <= m; ++i)
      for (std::int64_t j = 0; j < units; ++j)
        window.set(i * units + j, i == m ? h_k.at(j) : states[k + 1 + i].at(j));
    for (std::int64_t n = k + 1; n < steps; ++n) rest.set(n - k - 1, c.x.at(n));
    LayerOverTime layer(c.program, c.weights, rest, {window}, k + 1, 1);
    const Tensor y = layer.forward([](std::int64_t, const UnrollTrace::Step&) {});
    for (std::int64_t i = 0; i < y.numel(); ++i) sum += y.at(i) * seeds.outputs.at((k + 1) * units + i);
    return sum;
  };
  for (std::int64_t k = 0; k < steps; ++k) {
    for (std::int64_t j = 0; j < units; ++j) {
      const double step = 1e-5;
      Tensor up = states[m + 1 + k].clone(), down = up.clone();
      up.set(j, up.at(j) + step);
      down.set(j, down.at(j) - step);
      const double difference = (sum_from(k, up) - sum_from(k, down)) / (2 * step);
      CHECK(found[k].at(j) == doctest::Approx(difference).epsilon(1e-7));
    }
  }
}

TEST_CASE("a state counts with the others of its step held, and the output sees it") {
  // y' uses the new z: by the joint state, dX_{n+1} / dX_n = [[a, 0], [b a, c]].
  EquationCell cell;
  cell.states = {{"z", {"units"}}, {"y", {"units"}}};
  cell.weights = {{"a", {"units"}}, {"b", {"units"}}, {"c", {"units"}}, {"u", {"units"}}};
  cell.step = {"z' = a * z + u * x", "y' = c * y + b * z'"};
  cell.output = "2 * y'";
  Case c = make_case(compile_equations(cell, 1, 1), 2);
  const double a = 0.5, b = 3, d = -0.25;
  const auto set = [&](const std::string& name, double value) {
    for (std::size_t w = 0; w < c.program.weights.size(); ++w)
      if (c.program.weights[w].name == name) c.weights[w].set(0, value);
  };
  set("a", a);
  set("b", b);
  set("c", d);
  LayerOverTime layer = c.layer();
  layer.forward([](std::int64_t, const UnrollTrace::Step&) {});
  LayerOverTime::Seeds seeds;
  seeds.rows = 2;
  seeds.states = {Tensor::from({2, 1}, {1, 0}, Dtype::f64), Tensor::from({2, 1}, {0, 1}, Dtype::f64)};
  std::vector<std::vector<double>> found(2);
  const auto see = [&](std::int64_t step, std::span<const Tensor> of) {
    found[step] = {of[0].at(0), of[1].at(0), of[0].at(1), of[1].at(1)};
  };
  layer.backward(seeds, see, false);
  CHECK(found[1] == std::vector<double>{1, 0, 0, 1});
  CHECK(found[0] == std::vector<double>{a, 0, b * a, d});

  seeds = {1, Tensor::from({1, 2, 1}, {0, 1}, Dtype::f64), {}};
  layer.backward(
      seeds,
      [&](std::int64_t step, std::span<const Tensor> of) {
        found[step] = {of[0].item(), of[1].item()};
      },
      false);
  CHECK(found[1] == std::vector<double>{0, 2});
  CHECK(found[0] == std::vector<double>{2 * b * a, 2 * d});
}

TEST_CASE("derivatives by the input reach the layer below") {
  Case c = make_case(program_of(1, {"W", "U"}, {"h' = W @ h + U @ x"}), 9);
  LayerOverTime layer = c.layer(1);
  layer.forward([](std::int64_t, const UnrollTrace::Step&) {});
  const Tensor of_x = layer.backward(
      last_state(c.program), [](std::int64_t, std::span<const Tensor>) {}, true);
  for (std::int64_t n = 0; n < 9; ++n)
    CHECK(of_x.at(n) ==
          doctest::Approx(c.weights[1].at(0) * std::pow(c.weights[0].at(0), 8 - n)).epsilon(1e-13));
}

}  // namespace lagtape
