#include "lagtape/tools/analysis/bounds.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "lagtape/tools/analysis/analysis.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {
namespace {

constexpr std::size_t kSteps = 30;

/// Analyses an untrained model of these layers with its bounds.
Analysis bounded(const std::string& layers) {
  const Experiment experiment = parse_experiment(
      R"({"name": "small", "optimizer": {"type": "adam", "lr": 0.01}, "loss": "mse",
          "data": {"task": "random", "length": 30, "input": 2, "output": 1, "train": 4, "test": 3},
          "model": {"readout": {"units": 1, "at": "last_step"}, "layers": [)" +
          layers + "]}}",
      "test", ".");
  ThreadPool pool(2);
  const Task task = experiment.load_task(pool);
  const Model model = build_model(experiment, task.shape);
  return analyze(model, *task.test, task.normalization, pool, {.projections = 1, .bounds = true});
}

TEST_CASE("what is measured stays below the bounds, and comes near to them after a step") {
  for (const std::string layers :
       {R"({"cell": "tau_gru", "units": 6, "tau": 4})",
        R"({"cell": "tau_gru", "units": 6, "tau": 4, "dt": 0.5, "alpha": 1.5, "beta": 0.5})",
        R"({"cell": "tau_gru", "units": 6, "tau": 0, "weighting": false, "gating": false})",
        R"({"cell": "lem", "units": 5, "dt": 0.1})", R"({"cell": "lem", "units": 5, "multiscale": false})",
        R"({"cell": "unicornn", "units": 6, "layers": 2, "dt": [0.05, 0.02], "alpha": 1.5})"}) {
    CAPTURE(layers);
    for (const LayerAnalysis& layer : bounded(layers).layers) {
      REQUIRE(layer.bounds);
      CHECK(layer.exact);  // --bounds follows every row
      REQUIRE(layer.bounds->jacobian.size() == kSteps);
      REQUIRE(layer.bounds->states.size() == layer.states.size());
      CHECK(layer.bounds->jacobian[0] == 1);
      CHECK(layer.row_sum.max[0] == 1);
      for (std::size_t lag = 1; lag < kSteps; ++lag)
        CHECK(layer.row_sum.max[lag] <= layer.bounds->jacobian[lag] * (1 + 1e-12));
      CHECK(layer.row_sum.max[1] > 0.05 * layer.bounds->jacobian[1]);
      for (std::size_t s = 0; s < layer.states.size(); ++s) {
        CHECK(layer.states[s].largest.max[0] > 0);
        for (const double largest : layer.states[s].largest.max) CHECK(largest <= layer.bounds->states[s]);
      }
    }
  }
}

TEST_CASE("dilations are not bounded: a step reads the state of another step than the one before") {
  for (const std::string layer : {R"({"cell": "tau_gru", "units": 3, "tau": 4, "dilations": [3]})",
                                  R"({"cell": "lem", "units": 3, "dilations": [1, 2]})"}) {
    CAPTURE(layer);
    for (const LayerAnalysis& one : bounded(layer).layers) {
      REQUIRE(one.bounds);
      CHECK(one.bounds->jacobian.empty());
      CHECK(one.bounds->states.empty());
      CHECK(one.bounds->jacobian_source.starts_with("none: "));
    }
  }
}

TEST_CASE("the bounds are those of the statements, computed by hand") {
  // |W| = 0.5, g = 1: B[j] = 0.5 B[j-1] + 0.5 B[j-3].
  const std::string half =
      R"("init": {"W1": {"type": "constant", "value": 0.25}, "W2": {"type": "constant", "value": 0.25}})";
  const Analysis tau_gru = bounded(
      R"({"cell": "tau_gru", "units": 2, "tau": 2, "weighting": false, "gating": false, )" + half + "}");
  const LayerBounds& a = *tau_gru.layers[0].bounds;
  const std::vector<double> expected = {1, 0.5, 0.25, 0.625, 0.5625};
  for (std::size_t lag = 0; lag < expected.size(); ++lag)
    CHECK(a.jacobian[lag] == doctest::Approx(expected[lag]).epsilon(1e-6));
  CHECK(a.states == std::vector<double>{2});

  // |W| = 0.5 of all four: C = 0.5 + 0.5 + 0.125.
  std::string init;
  for (const std::string name : {"W1", "W2", "W3", "W4"})
    init += (init.empty() ? "" : ", ") + ("\"" + name) + R"(": {"type": "constant", "value": 0.25})";
  const LayerAnalysis gated =
      bounded(R"({"cell": "tau_gru", "units": 2, "tau": 1, "init": {)" + init + "}}").layers[0];
  REQUIRE(gated.values[0].name == "g");
  const double p = 1 + 1.125 - gated.values[0].distribution.min;
  CHECK(gated.bounds->jacobian[2] == doctest::Approx(p * p + 0.5).epsilon(1e-6));

  // eta = 0.5, Gamma = 2 * 1.5 * 2.5 = 7.5.
  init.clear();
  for (const std::string name : {"W1", "W2", "Wz", "Wy"})
    init += (init.empty() ? "" : ", ") + ("\"" + name) + R"(": {"type": "constant", "value": 0.5})";
  const LayerBounds b =
      *bounded(R"({"cell": "lem", "units": 1, "dt": 0.01, "init": {)" + init + "}}").layers[0].bounds;
  CHECK(b.jacobian[4] == doctest::Approx(std::pow(1.0375, 4)).epsilon(1e-6));
  CHECK(b.states[0] == doctest::Approx(1.01 / std::sqrt(1.99) * std::sqrt(0.3)).epsilon(1e-9));

  // beta = 4, t = 0.6: beta t is above what the proof covers.
  const LayerBounds c =
      *bounded(R"({"cell": "unicornn", "units": 3, "layers": 1, "dt": 0.02, "alpha": 1})").layers[0].bounds;
  CHECK(c.states[0] == doctest::Approx(std::sqrt(11.6)).epsilon(1e-9));
  CHECK(c.state_source.find("1.25, here it is 2.4") != std::string::npos);
}

TEST_CASE("without a statement there is no bound, and the reason is said") {
  for (const auto& row :
       {std::pair<std::string, std::string>{R"({"cell": "lstm", "units": 3})", "tau_gru, lem and unicornn"},
        {R"({"cell": "lem", "units": 3, "dt": 1.5})", "dt <= 1"},
        {R"({"cell": "tau_gru", "units": 3, "tau": {"max": 5}})", "one fixed delay"},
        {R"({"cell": "tau_gru", "units": 3, "tau": [2, 3]})", "one fixed delay"}}) {
    CAPTURE(row.first);
    const Analysis found = bounded(row.first);
    CHECK(found.layers[0].bounds->jacobian.empty());
    CHECK(found.layers[0].bounds->states.empty());
    CHECK(found.layers[0].bounds->jacobian_source.find(row.second) != std::string::npos);
    CHECK(found.layers[0].row_sum.max.size() == kSteps);
  }
}

}  // namespace
}  // namespace lagtape
