#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tests/tools/train/training.h"

using namespace lagtape;

namespace {

/// One sequence of seven steps with a target at its end, and one update.
constexpr const char* kOneEnd = R"({
  "name": "end", "seed": 2,
  "data": { "task": "random", "length": 7, "input": 1, "output": 1, "train": 1, "valid": 0, "test": 0 },
  "cells": { "linear": { "hyper": { "tau": 2 },
                         "weights": { "a": ["units"], "d": ["units"], "u": ["units"] },
                         "state": { "h": "units" },
                         "step": [ "h' = a * h + d * h[-tau] + u * x" ], "output": "h'" } },
  "model": { "layers": [ { "cell": "linear", "units": 1 } ], "readout": { "units": 1, "at": "last_step" } },
  "optimizer": { "type": "sgd", "lr": 1 },
  "train": { "epochs": 1, "batch": 1, "precision": "f64" } })";

constexpr const char* kEnds = R"({
  "name": "ends", "seed": 4,
  "data": { "task": "random", "length": 20, "input": 2, "classes": 3, "train": 16, "valid": 8 },
  "model": { "layers": [ { "cell": "tau_gru", "units": 6, "tau": 3 }, { "layer": "dropout", "rate": 0.2 } ],
             "readout": { "at": "last_step" } },
  "optimizer": { "type": "adam", "lr": 0.01 },
  "train": { "epochs": 3, "batch": 8 } })";

double value_of(const Run& run, const std::string& name) {
  for (const Parameter& parameter : run.model.parameters())
    if (parameter.name == name) return parameter.value.at(0);
  FAIL("no parameter ", name);
  return 0;
}

/// The derivative of (v h_7 + c - y)^2 with respect to u, with h before the last `truncate` steps taken as
/// given.
double gradient_of_u(const Run& run, int truncate) {
  const std::vector<std::int64_t> first = {0};
  const Batch batch = gather(*run.task.train, first, Dtype::f64, const_cast<ThreadPool&>(run.pool));
  const double a = value_of(run, "layers.0.a"), d = value_of(run, "layers.0.d"),
               u = value_of(run, "layers.0.u"), v = value_of(run, "readout.W"),
               c = value_of(run, "readout.W.bias");
  std::vector<double> h(4), slope(4);  // the oldest first; h_1 is h[3]
  for (int n = 0; n < 7; ++n) {
    const std::size_t now = h.size() - 1;
    h.push_back(a * h[now] + d * h[now - 2] + u * batch.x.at(n));
    slope.push_back(n < 7 - truncate ? 0 : batch.x.at(n) + a * slope[now] + d * slope[now - 2]);
  }
  return 2 * (v * h.back() + c - batch.y.at(0)) * v * slope.back();
}

std::string error_of(const std::string& text, const std::vector<std::string>& set) {
  try {
    Run(text, set).train();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("truncated training over the whole length is training") {
  Run whole(kSmallSeries), long_segments(kSmallSeries, {"train.truncate=60"}),
      short_segments(kSmallSeries, {"train.truncate=20"});
  whole.train();
  long_segments.train();
  short_segments.train();
  CHECK(same_bits(whole.model.parameters(), long_segments.model.parameters()));
  CHECK_FALSE(same_bits(whole.model.parameters(), short_segments.model.parameters()));
  CHECK(short_segments.trainer.state().kept->value <
        whole.trainer.state().kept->value);  // three times the updates
}

TEST_CASE("every segment is an update, a sequence that is read once has one") {
  const auto updates = [](const char* text, int truncate) {
    return Run(text, {text_of("train.truncate=", truncate)}).trainer.updates_per_epoch();
  };
  CHECK(updates(kSmallSeries, 0) == 3);
  CHECK(updates(kSmallSeries, 60) == 3);
  CHECK(updates(kSmallSeries, 20) == 9);
  CHECK(updates(kSmallSeries, 19) == 12);
  CHECK(updates(kEnds, 6) == 2);
}

TEST_CASE("progress is told within a step, after each segment but the last") {
  Run run(kSmallSeries, {"train.truncate=20", "train.epochs=1"});
  std::vector<double> places, losses;
  const auto report = [&](const StepReport& at) {
    places.push_back(static_cast<double>(at.position.step) + at.share);
    losses.push_back(at.loss);
  };
  run.trainer.run({.stepped = report, .within_step = report});
  REQUIRE(places.size() == 9);
  for (std::size_t i = 0; i < places.size(); ++i) {
    CHECK(places[i] == doctest::Approx(static_cast<double>(i + 1) / 3));
    CHECK(losses[i] > 0);
    CHECK(std::isfinite(losses[i]));
  }
}

TEST_CASE("with one target per sequence gradients reach back over the last steps alone") {
  double last = 0;
  for (const int truncate : {1, 2, 3, 5, 6, 7, 9}) {
    CAPTURE(truncate);
    Run run(kOneEnd, {text_of("train.truncate=", truncate)});
    const double before = value_of(run, "layers.0.u"), expected = gradient_of_u(run, truncate);
    run.train();
    CHECK(before - value_of(run, "layers.0.u") == doctest::Approx(expected).epsilon(1e-12));
    CHECK((truncate > 7 || std::abs(expected - last) > 1e-6));  // each step counts
    last = expected;
  }
}

TEST_CASE("a divergence has its place in the whole sequence") {
  for (const int truncate : {0, 1, 3, 5}) {
    CAPTURE(truncate);
    const std::string init = R"("init": { "a": { "type": "constant", "value": 1e80 }, "d": "zeros" },)";
    std::string text = kOneEnd;
    text.insert(text.find("\"state\""), init);
    Run run(text, {text_of("train.truncate=", truncate)});
    CHECK_THROWS_WITH_AS(run.train(), doctest::Contains("after time step 5 of row 0"), DivergenceError);
    Run skipping(text, {text_of("train.truncate=", truncate), "train.not_finite=skip"});
    CHECK_NOTHROW(skipping.train());
    CHECK(value_of(skipping, "layers.0.a") == 1e80);
  }
}

TEST_CASE("segments of sequences that are read once do not depend on threads and plans, and may be whole") {
  const auto trained = [](std::vector<std::string> set, int threads) {
    Run run(kEnds, set, threads);
    run.train();
    return copy_values(run.model.parameters());
  };
  const auto one = trained({"train.truncate=6"}, 1), whole = trained({}, 2);
  CHECK(same_bits(one, trained({"train.truncate=6"}, 3)));
  CHECK(same_bits(one, trained({"train.truncate=6", "train.memory=states"}, 2)));
  CHECK_FALSE(same_bits(one, whole));
  CHECK(same_bits(whole, trained({"train.truncate=20"}, 2)));
}

TEST_CASE("a run that was stopped between two segments goes on there, with the same bits" *
          doctest::test_suite("slow")) {
  constexpr const char* kRagged = R"({
    "name": "ragged", "seed": 5,
    "data": { "task": "random", "length": 40, "lengths": "random", "input": 2, "classes": 3, "every_step": true,
              "train": 11, "valid": 4 },
    "model": { "layers": [ { "cell": "delay_gru", "units": 5, "tau": 3 } ] },
    "train": { "epochs": 2, "batch": 4, "truncate": 7 } })";
  const std::pair<const char*, std::vector<std::string>> table[] = {
      {kSmallSeries, {"train.truncate=16", "train.epochs=2"}},
      {kSmallSeries, {"train.truncate=16", "train.epochs=2", "train.precision=bf16"}},
      {kSmallSeries,
       {"train.truncate=16", "train.epochs=2",
        R"(model.layers=[{"cell": "unicornn", "units": 4, "layers": 2, "dt": 0.1}])",
        "train.memory=reversible"}},
      {kSmallSeries, {"train.truncate=16", "train.epochs=2", R"(train.average={"latest": 2})"}},
      {kRagged, {}},
      {kRagged, {R"(optimizer={"type": "sgd", "lr": 0.1, "momentum": 0.9})"}},
  };
  for (const auto& [text, set] : table) {
    const std::string last = set.empty() ? "" : set.back();
    CAPTURE(last);
    Run whole(text, set);
    std::vector<double> losses;
    for (const EvaluationReport& report : whole.train()) losses.push_back(report.train_loss);
    int within = 0;
    for (const int stop : {1, 2, 3, 5, 8, 11, 14}) {
      CAPTURE(stop);
      Run before(text, set, 1);
      int asked = 0;
      std::string saved;
      std::vector<double> found;
      const auto note = [&](const EvaluationReport& report) { found.push_back(report.train_loss); };
      CHECK_THROWS_AS(
          before.trainer.run({.evaluated = note,
                              .save = [&] { saved = serialize_safetensors(before.trainer.pack()); },
                              .stop_requested = [&] { return ++asked == stop; }}),
          Interrupted);
      within += before.trainer.state().segments ? 1 : 0;
      Run after(text, set, 3);
      TensorReader reader(parse_safetensors(saved, "state"), "state");
      after.trainer.unpack(reader);
      after.trainer.run({.evaluated = note});
      CHECK(same_bits(after.model.parameters(), whole.model.parameters()));
      CHECK(found == losses);
    }
    CHECK(within >= 3);
  }
}

TEST_CASE("segments are saved once in a while, and a state within a batch that is another is refused") {
  const std::vector<std::string> set = {"train.truncate=7", "train.epochs=1"};
  Run run(kSmallSeries, set);
  std::vector<SafetensorsFile> within;
  run.trainer.run({.save =
                       [&] {
                         if (run.trainer.state().segments) within.push_back(run.trainer.pack());
                       },
                   .save_interval = 0});
  CHECK(within.size() == 3 * 8);  // 3 batches of 9 segments
  const auto refusal = [&](const std::string& from, const std::string& to) {
    SafetensorsFile file = within.front();
    std::string& state = file.metadata["state"];
    const std::size_t at = state.find(from);
    REQUIRE(at != std::string::npos);
    state.replace(at, from.size(), to);
    TensorReader reader(parse_safetensors(serialize_safetensors(file), "state"), "state");
    try {
      Run(kSmallSeries, set).trainer.unpack(reader);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal("\"steps\":7", "\"steps\":7").empty());
  CHECK(
      has(refusal("\"steps\":7", "\"steps\":60"), "[checkpoint] the run is after 60 steps of the sequences"));
  CHECK(has(refusal("\"steps\":7", "\"steps\":0"),
            "[checkpoint] the training state in the metadata is damaged"));
  CHECK(has(refusal("\"rows\":[0,1,", "\"rows\":[0,0,"), "the present batch is another"));
  CHECK(has(refusal("6,7]", "6,8]"), "the present batch is another"));
  CHECK(has(refusal("6,7]", "6]"), "window.0"));
  CHECK(has(refusal("\"rows\":[0,1,2,3,4,5,6,7]", "\"rows\":[]"), "window.0"));
}

TEST_CASE("what truncated training cannot do is told") {
  CHECK(
      has(error_of(kEnds, {"train.truncate=6", "model.readout.at=mean"}), "test: /train/truncate: segments"));
  CHECK(has(error_of(kEnds, {"train.truncate=6", "data.lengths=random"}),
            "/train/truncate: where sequences are read once all must be of one length"));
  CHECK(has(error_of(kEnds, {"train.truncate=6",
                             R"(model.layers=[{"cell": "rnn", "units": 2}, {"layer": "batch_norm"}])"}),
            "The model has an embedding, batch_norm or bidirectional layer"));
}
