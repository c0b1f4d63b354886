#include "lagtape/tools/analysis/analysis.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "lagtape/core/error.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/view/analysis_plots.h"

namespace lagtape {

namespace {

constexpr const char* kStart = R"({"name": "small", "optimizer": {"type": "adam", "lr": 0.01},
  "data": {"task": "random", "length": 30, "input": 2, "train": 4, "test": 3, )";

/// Analyses an untrained model; `rest` is what follows in "data", the model, and so on.
Analysis analysis_of(const std::string& rest, const AnalysisOptions& options = {}, int threads = 2) {
  const Experiment experiment = parse_experiment(kStart + rest, "test", ".");
  ThreadPool pool(threads);
  const Task task = experiment.load_task(pool);
  const Model model = build_model(experiment, task.shape);
  return analyze(model, *task.test, task.normalization, pool, options);
}

std::string tau_gru(const std::string& readout) {
  return R"("output": 2, "every_step": )" + std::string(readout == "every_step" ? "true" : "false") +
         R"(}, "loss": "mse", "model": {"layers": [{"cell": "tau_gru", "units": 5, "tau": 4},
           {"cell": "lem", "units": 3}], "readout": {"units": 2, "at": ")" +
         readout + R"("}}})";
}

/// h' = W h + U x of one unit that starts at W = 0.75, read at every step.
constexpr const char* kLinear = R"("output": 1, "every_step": true}, "loss": "mse",
  "cells": {"linear_memory": {"weights": {"W": ["units", "units"], "U": ["units", "input"]},
    "init": {"W": {"type": "constant", "value": 0.75}}, "state": {"h": "units"},
    "step": ["h' = W @ h + U @ x"], "output": "h'"}},
  "model": {"layers": [{"cell": "linear_memory", "units": 1}], "readout": {"at": "every_step"}}})";

const ValueAnalysis& value_named(const LayerAnalysis& layer, const std::string& name) {
  for (const ValueAnalysis& value : layer.values)
    if (value.name == name) return value;
  throw Error("no value " + name);
}

}  // namespace

TEST_CASE("a linear memory's Jacobians and last step's gradients fall by its factor") {
  const Analysis found = analysis_of(kLinear);
  REQUIRE(found.layers.size() == 1);
  const LayerAnalysis& layer = found.layers[0];
  CHECK(found.steps == 30);
  CHECK(found.lengths == std::vector<std::int64_t>{30, 30, 30});
  CHECK(layer.exact);
  const LagCurve& last = layer.states[0].last_step_gradient;
  REQUIRE(last.mean.size() == 30);
  CHECK(last.mean[0] > 0);
  for (std::size_t lag = 0; lag < 30; ++lag) {
    CHECK(layer.frobenius.mean[lag] == doctest::Approx(std::pow(0.75, lag)).epsilon(1e-12));
    CHECK(layer.spectral.max[lag] == doctest::Approx(std::pow(0.75, lag)).epsilon(1e-12));
    CHECK(last.mean[lag] == doctest::Approx(last.mean[0] * std::pow(0.75, lag)).epsilon(1e-12));
  }
  CHECK(layer.frobenius.reach() == 16);  // 0.75^16 = 0.01002, 0.75^17 = 0.0075
  CHECK(layer.states[0].gradient.mean != last.mean);
  CHECK(layer.values.empty());
}

TEST_CASE("a limit of steps shows the same last steps") {
  for (const std::string readout : {"every_step", "last_step", "mean"}) {
    CAPTURE(readout);
    const Analysis whole = analysis_of(tau_gru(readout));
    const Analysis part = analysis_of(tau_gru(readout), {.steps = 11});
    REQUIRE(part.steps == 11);
    REQUIRE(part.layers.size() == 2);
    for (std::size_t l = 0; l < 2; ++l) {
      const LayerAnalysis &a = whole.layers[l], &b = part.layers[l];
      for (std::size_t s = 0; s < a.states.size(); ++s) {
        CHECK(a.states[s].last_step_gradient.mean.size() == (readout == "every_step" ? 30 : 0));
        for (std::size_t lag = 0; lag < 11; ++lag) {
          CHECK(a.states[s].norm.mean[lag] == doctest::Approx(b.states[s].norm.mean[lag]).epsilon(1e-12));
          CHECK(a.states[s].gradient.max[lag] ==
                doctest::Approx(b.states[s].gradient.max[lag]).epsilon(1e-11));
        }
      }
      for (std::size_t lag = 0; lag < 11; ++lag)
        CHECK(a.frobenius.mean[lag] == doctest::Approx(b.frobenius.mean[lag]).epsilon(1e-11));
    }
    CHECK(part.layers[0].states[0].gradient.mean[10] > 0);
    CHECK(part.layers[1].states[1].gradient.mean[10] > 0);
  }
}

TEST_CASE("the gradient by the last state is the read-out's") {
  // 2/q V^T (V h_T + c - target), q = 2
  const Experiment experiment = parse_experiment(kStart + tau_gru("last_step"), "test", ".");
  ThreadPool pool(1);
  const Task task = experiment.load_task(pool);
  const Model model = build_model(experiment, task.shape);
  const Analysis found = analyze(model, *task.test, task.normalization, pool, {.sequences = 1});
  const std::int64_t first = 0;
  const Batch data = gather(*task.test, {&first, 1}, model.dtype(), pool, task.normalization);
  SequenceOp op(model.stack(), model.dtype());
  const Tensor y = op.evaluate(model.weights(), sequence_batch(data, task.shape, experiment.loss), pool);
  const Tensor V = model.weights()[model.weights().size() - 2];
  REQUIRE(V.shape() == Shape{2, 3});
  double squares = 0;
  for (std::int64_t j = 0; j < 3; ++j) {
    double derivative = 0;
    for (std::int64_t i = 0; i < 2; ++i) derivative += V.at(i * 3 + j) * (y.at(i) - data.y.at(i));
    squares += derivative * derivative;
  }
  CHECK(found.layers[1].states[1].gradient.mean[0] == doctest::Approx(std::sqrt(squares)).epsilon(1e-5));
  CHECK(found.layers[1].states[0].gradient.mean[0] == 0);  // y alone is the output
}

TEST_CASE("random projections estimate what exact rows give, and repeat") {
  const AnalysisOptions exact{.projections = 6}, some{.projections = 4, .seed = 3};
  const Analysis all = analysis_of(tau_gru("last_step"), exact);
  const Analysis estimate = analysis_of(tau_gru("last_step"), some);
  CHECK(all.layers[0].exact);
  CHECK_FALSE(estimate.layers[0].exact);
  CHECK(estimate.layers[0].projections == 4);
  CHECK(estimate.layers[0].spectral.mean.empty());
  CHECK(all.layers[0].frobenius.mean[0] == doctest::Approx(std::sqrt(5)));
  CHECK(estimate.layers[0].frobenius.mean[0] == doctest::Approx(std::sqrt(5)));  // |v| of +1 and -1
  for (std::size_t lag = 1; lag < 30; ++lag) {
    const double ratio = estimate.layers[0].frobenius.mean[lag] / all.layers[0].frobenius.mean[lag];
    CHECK(ratio > 0.4);
    CHECK(ratio < 2.0);
  }
  CHECK(analysis_of(tau_gru("last_step"), some, 1).layers[0].frobenius.mean ==
        estimate.layers[0].frobenius.mean);
}

TEST_CASE("a layer's named values are collected over units, steps and sequences") {
  const Analysis found = analysis_of(tau_gru("last_step"), {.steps = 12});
  const LayerAnalysis &first = found.layers[0], &second = found.layers[1];
  CHECK(first.values.size() == 2);
  CHECK(second.values.size() == 2);
  for (const ValueAnalysis* value : {&value_named(first, "g"), &value_named(first, "a"),
                                     &value_named(second, "dt1"), &value_named(second, "dt2")}) {
    const Distribution& of = value->distribution;
    CHECK(of.count == 3 * 12 * value->units);
    CHECK(std::accumulate(of.counts.begin(), of.counts.end(), std::int64_t{0}) == of.count);
    CHECK(of.min > 0);
    CHECK(of.max < 1);
    REQUIRE(std::ssize(value->unit_means) == value->units);
    CHECK(std::accumulate(value->unit_means.begin(), value->unit_means.end(), 0.0) / value->units ==
          doctest::Approx(of.mean));
    CHECK_FALSE(value->fixed);
  }
  const Analysis gate = analysis_of(tau_gru("last_step"), {.values = {"dt2"}});
  CHECK(gate.layers[0].values.empty());
  CHECK(gate.layers[1].values.size() == 1);
  CHECK_THROWS_WITH_AS(analysis_of(tau_gru("last_step"), {.values = {"dt3"}}),
                       doctest::Contains("unknown value 'dt3'; did you mean 'dt"), InputError);
  CHECK_THROWS_AS(analysis_of(kLinear, {.values = {"g"}}), InputError);
}

TEST_CASE("a value made of weights alone counts once a unit, and oscillators keep their volume") {
  const Analysis found = analysis_of(R"("output": 1}, "loss": "mse", "model": {"layers":
      [{"cell": "unicornn", "units": 6, "layers": 2, "dt": 0.3, "alpha": 0.9}], "readout": {"at": "last_step"}}})");
  REQUIRE(found.layers.size() == 2);
  for (const LayerAnalysis& layer : found.layers) {
    REQUIRE(layer.values.size() == 1);
    CHECK(layer.values[0].name == "s");
    CHECK(layer.values[0].fixed);
    CHECK(layer.values[0].distribution.count == 6);
    CHECK(layer.values[0].distribution.mean ==
          doctest::Approx(0.15).epsilon(0.1));  // dt sigmoid(c), c near 0
    // Determinant 1: some direction never shrinks.
    for (const double norm : layer.spectral.min) CHECK(norm >= 1 - 1e-9);
  }
}

TEST_CASE("every chart of an analysis can be drawn") {
  const auto plots = plots_of(analysis_of(tau_gru("every_step")), "a & b");
  std::vector<std::string> names;
  for (const auto& [name, plot] : plots) {
    names.push_back(name);
    CHECK(plot.svg().find("</svg>") != std::string::npos);
  }
  CHECK(names == std::vector<std::string>{"gradients", "jacobians", "norms", "values-0-g", "values-0-a",
                                          "values-1-dt1", "values-1-dt2"});
}

TEST_CASE("what cannot be looked into is refused") {
  const Experiment experiment = parse_experiment(kStart + tau_gru("last_step"), "test", ".");
  ThreadPool pool(1);
  const Task task = experiment.load_task(pool);
  const Model model = build_model(experiment, task.shape);
  CHECK_THROWS_AS(analyze(model, *task.valid, task.normalization, pool), InputError);
}

}  // namespace lagtape
