#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "lagtape/core/error.h"
#include "lagtape/tests/tools/train/training.h"
#include "lagtape/tools/analysis/model_gradients.h"
#include "lagtape/tools/train/streaming.h"

// Chains, which are models of several operations, in everything that is done with a model.

using namespace lagtape;

namespace {

constexpr const char* kWords =
    R"({"task": "random", "length": 30, "lengths": "random", "tokens": 12, "classes": 3,
                                   "train": 11, "valid": 5, "test": 4})";
constexpr const char* kText =
    R"({"task": "random", "length": 40, "tokens": 7, "classes": 7, "every_step": true,
                                  "lengths": "random", "train": 6, "valid": 3})";
constexpr const char* kNumbers =
    R"({"task": "random", "length": 25, "lengths": "random", "input": 3, "classes": 3,
                                     "train": 11, "valid": 5, "test": 4})";
constexpr const char* kSeries =
    R"({"task": "random", "length": 40, "input": 2, "output": 2, "every_step": true,
                                    "lengths": "random", "train": 6, "valid": 3})";

const std::string kEmbedded = R"([{"layer": "embedding", "units": 5, "dropout": 0.2, "padding": 0},
                                  {"cell": "tau_gru", "units": 6, "tau": 3}])";
const std::string kTied = R"([{"layer": "embedding", "units": 6, "dropout": 0.2},
                              {"cell": "tau_gru", "units": 6, "tau": 3}], "readout": {"tied": true})";
const std::string kNormalized =
    R"([{"cell": "rnn", "units": 6}, {"layer": "batch_norm"}, {"cell": "gru", "units": 5},
                                    {"layer": "batch_norm", "momentum": 0.5}])";
const std::string kBoth = R"([{"layer": "bidirectional", "cell": {"cell": "gru", "units": 4}}])";
const std::string kDeep = R"([{"layer": "embedding", "units": 4},
                              {"layer": "bidirectional", "cell": {"cell": "lstm", "units": 3}},
                              {"layer": "batch_norm"}, {"layer": "dropout", "rate": 0.1},
                              {"layer": "bidirectional", "cell": {"cell": "gru", "units": 3}, "merge": "sum"},
                              {"layer": "linear", "units": 3}])";

struct Sample {
  std::string name, data, layers;
};

const std::vector<Sample> kSamples = {{"embedded", kWords, kEmbedded},
                                      {"text", kText, kEmbedded},
                                      {"tied text", kText, kTied},
                                      {"normalized", kNumbers, kNormalized},
                                      {"normalized series", kSeries, kNormalized},
                                      {"both ways", kNumbers, kBoth},
                                      {"both ways series", kSeries, kBoth},
                                      {"deep", kWords, kDeep},
                                      {"deep text", kText, kDeep}};

std::string experiment_text(const std::string& data, const std::string& layers,
                            const std::string& more = "") {
  return text_of(R"({"name": "chain", "seed": 4, "data": )", data, R"(, "model": {"layers": )", layers,
                 R"(}, "optimizer": {"type": "adam", "lr": 0.02}, )", more,
                 R"("train": {"epochs": 2, "batch": 4}})");
}

/// Sequences of the task as numbers that `predict` takes.
Tensor inputs_of(Run& run) {
  return gather(*run.task.valid, indices_in_order(*run.task.valid, 0, 3), run.model.dtype(), run.pool).x;
}

std::string error_of(const std::string& text, const std::vector<std::string>& set = {}) {
  try {
    Run run(text, set);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("gradients of chains agree with central differences" * doctest::test_suite("slow")) {
  for (const Sample& sample : kSamples) {
    CAPTURE(sample.name);
    ThreadPool pool(2);
    const Experiment experiment = parse_experiment(experiment_text(sample.data, sample.layers), "test", "/");
    const ModelGradients found = check_model_gradients(experiment, pool);
    CAPTURE(found.report.worst);
    CHECK(found.report.compared > 50);
    CHECK(found.report.max_rel_error > 0);
    CHECK(found.report.max_rel_error < 1e-7);
  }
}

TEST_CASE("threads, plans and budgets change no bit of a chain's training" * doctest::test_suite("slow")) {
  for (const Sample& sample : kSamples) {
    CAPTURE(sample.name);
    const std::string text = experiment_text(sample.data, sample.layers);
    Run one(text, {}, 1);
    const std::vector<Tensor> first = copy_values(one.model.parameters());
    one.trainer.run();
    std::size_t changed = 0, i = 0;
    for (const Parameter& parameter : one.model.parameters())
      changed += !same_bits(parameter.value, first[i++]);
    CHECK(changed == first.size());
    for (const int threads : {2, 3}) {
      Run more(text, {}, threads);
      more.trainer.run();
      CHECK(same_bits(one.model.parameters(), more.model.parameters()));
    }
    for (const char* plan : {"states", "checkpoint"}) {
      Run other(text, {text_of("train.memory=", plan)});
      other.trainer.run();
      CHECK(same_bits(one.model.parameters(), other.model.parameters()));
    }
  }
}

TEST_CASE("a budget covers the whole chain, and its sequence ops share it") {
  const std::string long_series =
      R"({"task": "random", "length": 2000, "input": 3, "output": 1, "train": 8})";
  const std::string text = experiment_text(long_series, kNormalized);
  Run free(text, {"train.epochs=1"});
  const PlanCost full = free.trainer.plan();
  const ModelOp op(free.model);
  std::int64_t least = full.bytes;
  for (const PlanCost& plan : op.plans(4, 2000, 2)) least = std::min(least, plan.bytes);
  REQUIRE(least < full.bytes);
  const std::int64_t budget = (least + full.bytes) / 2;
  Run tight(text, {"train.epochs=1", text_of(R"(train.memory={"plan": "auto", "budget": ")", budget, "\"}")});
  CHECK(tight.trainer.plan().bytes <= budget);
  CHECK(tight.trainer.plan().bytes < full.bytes);
  free.trainer.run();
  tight.trainer.run();
  CHECK(same_bits(free.model.parameters(), tight.model.parameters()));
  CHECK(has(error_of(text, {R"(train.memory={"plan": "auto", "budget": "10KiB"})"}),
            "/train/memory: no plan fits a budget of 10.0 KiB (10240 bytes)"));
}

TEST_CASE("a chain's run that was stopped and taken up again ends with the same bits" *
          doctest::test_suite("slow")) {
  for (const Sample& sample : kSamples) {
    CAPTURE(sample.name);
    const std::string text = experiment_text(sample.data, sample.layers);
    Run whole(text);
    whole.trainer.run();
    Run before(text, {}, 1);
    std::int64_t steps = 0;
    TrainerHooks hooks;
    hooks.stepped = [&](const StepReport&) { ++steps; };
    hooks.stop_requested = [&] { return steps == 3; };
    CHECK_THROWS_AS(before.trainer.run(hooks), Interrupted);
    Run after(text);
    TensorReader reader(before.trainer.pack(), "checkpoint");
    after.trainer.unpack(reader);
    after.trainer.run();
    CHECK(same_bits(after.model.parameters(), whole.model.parameters()));
    whole.trainer.load_kept();
    after.trainer.load_kept();
    CHECK(same_bits(after.model.parameters(), whole.model.parameters()));
  }
}

TEST_CASE("a chain that was saved gives the same numbers, in any batch") {
  const auto file = std::filesystem::temp_directory_path() / "lagtape_chain_test.safetensors";
  for (const Sample& sample : kSamples) {
    CAPTURE(sample.name);
    Run run(experiment_text(sample.data, sample.layers));
    run.trainer.run();
    run.model.save(file);
    const Model loaded = Model::load(file);
    CHECK(same_bits(loaded.parameters(), run.model.parameters()));
    CHECK(loaded.parameters().count() == run.model.parameters().count());
    CHECK(loaded.tokens() == run.model.tokens());
    const Tensor x = inputs_of(run);
    const Tensor y = loaded.predict(x, 2);
    CHECK(same_bits(y, run.model.predict(x)));
    const std::int64_t steps = x.size(1), width = x.size(2), each = y.numel() / x.size(0);
    for (std::int64_t row = 0; row < x.size(0); ++row) {
      Tensor alone({steps, width}, x.dtype());
      for (std::int64_t i = 0; i < alone.numel(); ++i) alone.set(i, x.at(row * steps * width + i));
      const Tensor answer = loaded.predict(alone);
      for (std::int64_t i = 0; i < each; ++i) CHECK(answer.at(i) == y.at(row * each + i));
    }
  }
  std::filesystem::remove(file);
}

TEST_CASE("a chain streams as it predicts, unless it reads from both ends") {
  for (const Sample& sample : kSamples) {
    CAPTURE(sample.name);
    Run run(experiment_text(sample.data, sample.layers));
    run.trainer.run();
    const Tensor x = inputs_of(run);
    if (sample.layers == kBoth || sample.layers == kDeep) {
      CHECK_THROWS_WITH_AS(
          predict_by_stream(run.model, x),
          "[stream] a bidirectional layer reads sequences from both ends, and needs them whole", InputError);
    } else {
      const Tensor y = run.model.predict(x);
      CHECK(same_bits(predict_by_stream(run.model, x), y));
      CHECK(y.at(0) != y.at(y.numel() - 1));
    }
  }
}

TEST_CASE("a stream gives no number for what is no token") {
  Run run(experiment_text(kText, kEmbedded));
  Stream<float> stream = run.model.stream<float>();
  CHECK(stream.input_width() == 1);
  float token = 3, y[7];
  stream.step(&token, y);
  CHECK(std::isfinite(y[0]));
  const Stream<float> copy = stream;
  token = 7;
  stream.step(&token, y);
  CHECK(std::isnan(y[0]));
  stream = copy;
  token = 6;
  stream.step(&token, y);
  CHECK(std::isfinite(y[0]));
}

TEST_CASE("running statistics follow training, and evaluation uses them") {
  Run run(experiment_text(kNumbers, kNormalized));
  CHECK(run.model.parameters()["layers.1.mean"].value.at(0) == 0);
  CHECK(run.model.parameters()["layers.1.variance"].value.at(0) == 1);
  CHECK(!run.model.parameters()["layers.3.variance"].trainable);
  std::int64_t trained = 0;
  for (const LayerSummary& layer : run.model.layers()) trained += layer.params;
  CHECK(trained == run.model.parameters().count());
  const Tensor x = inputs_of(run), before = run.model.predict(x);
  run.trainer.run();
  CHECK(run.model.parameters()["layers.1.mean"].value.at(0) != 0);
  CHECK(run.model.parameters()["layers.3.variance"].value.at(0) != 1);
  const Tensor after = run.model.predict(x);
  run.model.parameters()["layers.1.mean"].value.fill(5);
  CHECK(!same_bits(run.model.predict(x), after));
  CHECK(!same_bits(before, after));
}

TEST_CASE("truncated BPTT carries the states of all sequence ops") {
  for (const std::string& layers : {kEmbedded, kTied, kNormalized}) {
    const std::string data = layers == kNormalized ? kSeries : kText;
    Run one(experiment_text(data, layers), {"train.truncate=7"}, 1),
        three(experiment_text(data, layers), {"train.truncate=7"}, 3);
    one.trainer.run();
    three.trainer.run();
    CHECK(same_bits(one.model.parameters(), three.model.parameters()));
    CHECK(std::isfinite(one.trainer.state().kept->value));
  }
  CHECK(has(
      error_of(experiment_text(kSeries, kBoth), {"train.truncate=7"}),
      "test: /train/truncate: a bidirectional layer reads sequences from both ends, and needs them whole"));
}

TEST_CASE("a chain is scored in stretches to the same numbers") {
  for (const std::string& layers : {kEmbedded, kTied, kNormalized, kBoth}) {
    Run run(experiment_text(layers == kEmbedded || layers == kTied ? kText : kSeries, layers),
            {"train.precision=f64"});
    run.trainer.run();
    const Evaluation whole = evaluate(run.experiment, run.model, run.trainer.op(), *run.task.valid, run.pool);
    const Evaluation parts = evaluate(run.experiment, run.model, run.trainer.op(), *run.task.valid, run.pool,
                                      {.stop_requested = {}, .scored = {}, .bytes = 600});
    for (std::size_t i = 0; i < whole.size(); ++i)
      CHECK(parts[i].second == doctest::Approx(whole[i].second).epsilon(1e-13));
  }
}

TEST_CASE("what does not go together is told plainly") {
  CHECK(has(error_of(experiment_text(kWords, kBoth)),
            "/model/layers/0: the data are tokens, 0..11: the first layer must be one that takes them: "
            "embedding."));
  CHECK(has(error_of(experiment_text(kNumbers, kEmbedded)),
            "/model/layers/0: 'embedding' takes tokens, but the data are real numbers."));
  CHECK(has(error_of(experiment_text(kNumbers,
                                     R"([{"cell": "gru", "units": 2}, {"layer": "embedding", "units": 2}])")),
            "/model/layers/1: 'embedding' takes tokens: it can only be the first layer."));
  CHECK(has(error_of(experiment_text(kWords, R"([{"layer": "embedding", "units": 2, "vocabulary": 9}])")),
            "the vocabulary has 9 tokens, but the data have 12"));
  CHECK(has(error_of(experiment_text(kWords, R"([{"layer": "embedding", "units": 2, "padding": 12}])")),
            "padding is one of 0..11. Got 12"));
  CHECK(has(error_of(experiment_text(kNumbers, R"([{"layer": "bidirectional"}])")),
            "/model/layers/0/cell: is missing, expected a cell"));
  CHECK(has(error_of(experiment_text(
                kNumbers, R"([{"layer": "bidirectional", "cell": {"cell": "grue", "units": 2}}])")),
            "/model/layers/0/cell/cell: unknown value 'grue'; did you mean 'gru'?"));
  CHECK(has(error_of(experiment_text(kNumbers,
                                     R"([{"layer": "bidirectional", "cell": {"cell": "gru", "unit": 2}}])")),
            "/model/layers/0/cell/unit: unknown key 'unit'; did you mean 'units'?"));
  CHECK(has(error_of(experiment_text(kNumbers, R"([{"layer": "batch_norms"}])")),
            "unknown layer 'batch_norms'; did you mean 'batch_norm'?"));
}

TEST_CASE("a user's cell runs in both directions too") {
  const std::string cells =
      R"text("cells": {"mine": {"weights": {"W": ["units", "units"], "U": ["units", "input"]},
      "state": {"h": "units"}, "step": ["h' = tanh(W @ h + U @ x)"], "output": "h'"}}, )text";
  Run run(experiment_text(kNumbers, R"([{"layer": "bidirectional", "cell": {"cell": "mine", "units": 4}}])",
                          cells));
  run.trainer.run();
  CHECK(run.model.parameters().contains("layers.0.1.U"));
}

TEST_CASE("an experiment tells its vocabulary once the data have told it") {
  Run run(experiment_text(kWords, kEmbedded));
  CHECK(run.model.tokens() == 12);
  CHECK(has(run.model.experiment(), "\"vocabulary\": 12"));
  const Tensor& table = run.model.parameters()["layers.0.E"].value;
  CHECK(table.shape() == Shape{12, 5});
  for (std::int64_t i = 0; i < 5; ++i) CHECK(table.at(i) == 0);
  run.trainer.run();
  for (std::int64_t i = 0; i < 5; ++i) CHECK(run.model.parameters()["layers.0.E"].value.at(i) == 0);
}
