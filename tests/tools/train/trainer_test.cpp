#include "lagtape/tools/train/trainer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tests/tools/train/training.h"

using namespace lagtape;

namespace {

constexpr const char* kRagged = R"({
  "name": "ragged", "seed": 5,
  "data": { "task": "random", "length": 40, "lengths": "random", "input": 2, "classes": 3, "every_step": true,
            "train": 11, "valid": 4 },
  "model": { "layers": [ { "cell": "delay_gru", "units": 5, "tau": 3 } ] },
  "train": { "epochs": 6, "batch": 4 } })";

constexpr const char* kFresh = R"({
  "name": "sum",
  "data": { "task": "adding", "length": 12, "valid": 4, "test": 0 },
  "model": { "layers": [ { "cell": "lstm", "units": 4 } ] },
  "train": { "steps": 24, "evaluate_every": 10, "batch": 3 } })";

/// A set in which one sequence has the same input at every step.
class OneConstant : public Dataset {
 public:
  OneConstant(std::shared_ptr<const Dataset> whole, std::int64_t which, double input = 0)
      : Dataset(whole->shape()), whole_(std::move(whole)), which_(which), input_(input) {}
  std::int64_t size() const override { return whole_->size(); }
  std::int64_t length(std::int64_t index) const override { return whole_->length(index); }
  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    whole_->read(index, batch, row);
    const std::int64_t steps = batch.x.size(1);
    for (std::int64_t n = 0; index == which_ && n < steps; ++n) batch.x.set(row * steps + n, input_);
  }

 private:
  std::shared_ptr<const Dataset> whole_;
  std::int64_t which_;
  double input_;
};

/// A run whose cell multiplies the delta of a silent sequence by `growth` at every step back; the deltas of
/// the others die away.
struct SteepRun : Run {
  explicit SteepRun(int growth, std::vector<std::string> set = {})
      : Run(kSmallSeries, with_cell(growth, std::move(set))) {
    REQUIRE(task.normalization.input.mean.empty());
    task.train = std::make_shared<OneConstant>(task.train, 13);
  }

  static std::vector<std::string> with_cell(int growth, std::vector<std::string> set) {
    const std::string step = text_of("h' = tanh(", growth, " * h + b * x + c)");
    set.push_back(text_of(R"(cells={"steep": {"weights": {"b": ["units"], "c": ["units"]},
                                             "init": {"b": "ones", "c": "zeros"}, "state": {"h": "units"},
                                             "step": [")",
                          step, R"("], "output": "h'"}})"));
    set.push_back(R"(model.layers=[{"cell": "steep", "units": 1}])");
    return set;
  }
};

double rmse_of(const EvaluationReport& report) { return value_of(report.valid, "rmse"); }

}  // namespace

TEST_CASE("training learns, and reports each epoch") {
  Run run(kSmallSeries, {"train.epochs=12"});
  const auto reports = run.train();
  REQUIRE(reports.size() == 12);
  CHECK(reports.back().position.epoch == 12);
  CHECK(reports.back().position.step == 36);
  CHECK(reports.front().lr == 0.02);
  CHECK(reports.back().train_loss < 0.2 * reports.front().train_loss);
  CHECK(rmse_of(reports.back()) < 0.5 * rmse_of(reports.front()));
}

TEST_CASE("the best state is kept, and an equal later one does not replace it") {
  Run run(kSmallSeries, {"optimizer.lr=0.2", "train.epochs=15"});
  const auto reports = run.train();
  const auto best = std::min_element(reports.begin(), reports.end(),
                                     [](const auto& a, const auto& b) { return rmse_of(a) < rmse_of(b); });
  REQUIRE(run.trainer.state().kept);
  CHECK(run.trainer.state().kept->position.epoch == best->position.epoch);
  run.trainer.load_kept();
  const Evaluation again = evaluate(run.experiment, run.model, run.trainer.op(), *run.task.valid, run.pool);
  CHECK(value_of(again, "rmse") == rmse_of(*best));

  Run still(kSmallSeries, {"optimizer={\"type\": \"sgd\", \"lr\": 1e-30}"});
  still.train();
  CHECK(still.trainer.state().kept->position.epoch == 1);
}

TEST_CASE("the last state is kept when that is asked for, and without valid") {
  for (const char* change : {"train.keep=last", "data.valid=0"}) {
    Run run(kSmallSeries, {"optimizer.lr=0.2", change});
    run.train();
    CHECK(run.trainer.state().kept->position.epoch == 6);
  }
}

TEST_CASE("a fresh task is evaluated after its first step, then at intervals, and at the end") {
  Run run(kFresh);
  std::vector<std::int64_t> steps;
  for (const EvaluationReport& report : run.train()) steps.push_back(report.position.step);
  CHECK(steps == std::vector<std::int64_t>{1, 11, 21, 24});
}

TEST_CASE("threads, plans and the size of chunks change no bit") {
  Run one(kSmallSeries, {}, 1), three(kSmallSeries, {}, 3), states(kSmallSeries, {"train.memory=states"});
  const auto first = one.train(), second = three.train();
  states.train();
  CHECK(same_bits(one.model.parameters(), three.model.parameters()));
  CHECK(same_bits(one.model.parameters(), states.model.parameters()));
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(first[i].train_loss == second[i].train_loss);
    CHECK(rmse_of(first[i]) == rmse_of(second[i]));
  }
}

TEST_CASE("a run that was stopped anywhere and taken up again ends with the same bits" *
          doctest::test_suite("slow")) {
  const std::pair<const char*, const char*> table[] = {
      {kSmallSeries, "train.epochs=6"},
      {kSmallSeries, "train.truncate=16"},
      {kSmallSeries, "train.clip=0.01"},
      {kSmallSeries, "train.precision=f64"},
      {kSmallSeries, R"(optimizer={"type": "sgd", "lr": 0.1, "momentum": 0.9})"},
      {kSmallSeries, R"(schedule={"type": "cosine"})"},
      {kRagged, "train.epochs=6"},
      {kRagged, "train.truncate=7"},
      {kFresh, "train.steps=24"},
  };
  for (const auto& row : table) {
    const char *text = row.first, *change = row.second;
    CAPTURE(change);
    Run whole(text, {change});
    whole.train();
    for (const std::int64_t stop : {0, 1, 3, 7, 17}) {
      CAPTURE(stop);
      Run before(text, {change}, 1);
      std::int64_t steps = 0;
      std::string saved;
      CHECK_THROWS_AS(
          before.trainer.run({.stepped = [&](const StepReport&) { ++steps; },
                              .save = [&] { saved = serialize_safetensors(before.trainer.pack()); },
                              .stop_requested = [&] { return steps == stop; }}),
          Interrupted);
      Run after(text, {change}, 3);
      TensorReader reader(parse_safetensors(saved, "state"), "state");
      after.trainer.unpack(reader);
      after.train();
      CHECK(same_bits(after.model.parameters(), whole.model.parameters()));
      CHECK(after.trainer.state().kept->value == whole.trainer.state().kept->value);
      CHECK(after.trainer.state().kept->position.step == whole.trainer.state().kept->position.step);
    }
  }
}

TEST_CASE("saving at every step changes no bit") {
  Run whole(kSmallSeries), saving(kSmallSeries);
  whole.train();
  int saves = 0;
  saving.trainer.run(
      {.save = [&] { saves += saving.trainer.pack().tensors.empty() ? 0 : 1; }, .save_interval = 0});
  CHECK(saves >= 18);
  CHECK(same_bits(whole.model.parameters(), saving.model.parameters()));
}

TEST_CASE("what is not trained is not moved by weight decay either") {
  Run run(kFresh,
          {R"(model.layers=[{"cell": "unicornn", "units": 4, "layers": 1, "dt": 0.1, "train_c": false}])",
           R"(optimizer={"type": "adamw", "lr": 0.05, "weight_decay": 0.1})", "train.keep=last"});
  const std::vector<Tensor> before = copy_values(run.model.parameters());
  run.train();
  auto value = before.begin();
  for (const Parameter& parameter : run.model.parameters())
    CHECK(same_bits(parameter.value, *value++) == parameter.name.ends_with(".c"));
}

TEST_CASE("divergence names epoch, step and tensor and leaves finite parameters") {
  const std::pair<const char*, const char*> table[] = {{"1e38", "the "}, {"1e300", "layers.0."}};
  for (const auto& row : table) {
    const char *lr = row.first, *what = row.second;
    CAPTURE(lr);
    Run run(kSmallSeries, {text_of(R"(optimizer={"type": "sgd", "lr": )", lr, "}")});
    std::string message;
    try {
      run.train();
    } catch (const DivergenceError& error) {
      message = error.what();
    }
    CAPTURE(message);
    CHECK(message.starts_with("training diverged in epoch 1, step "));
    CHECK(message.find(text_of(": ", what)) != std::string::npos);
    CHECK(message.ends_with(" is not finite"));
    for (const Parameter& parameter : run.model.parameters()) {
      for (std::int64_t i = 0; i < parameter.value.numel(); ++i) CHECK(std::isfinite(parameter.value.at(i)));
    }
  }
}

TEST_CASE("a gradient that is not finite, or whose square is not, ends the run unless clipping can help") {
  CHECK_THROWS_WITH_AS(SteepRun(100).train(), doctest::Contains("the gradient of layers.0."),
                       DivergenceError);
  CHECK_THROWS_WITH_AS(SteepRun(3).train(), doctest::Contains("the square of the gradient of layers.0."),
                       DivergenceError);
  CHECK_NOTHROW(SteepRun(3, {"train.clip=1"}).train());
  CHECK_THROWS_AS(SteepRun(100, {"train.clip=1"}).train(), DivergenceError);
}

TEST_CASE("a batch without a usable gradient is skipped where the experiment says so") {
  for (const int growth : {3, 100}) {
    CAPTURE(growth);
    SteepRun run(growth, {"train.not_finite=skip"});
    const std::vector<Tensor> first = copy_values(run.model.parameters());
    const auto reports = run.train();
    REQUIRE(reports.size() == 6);
    CHECK(reports.front().skipped == 1);  // later c has moved, so that no sequence stays at h = 0
    for (const EvaluationReport& report : reports) CHECK(std::isfinite(report.train_loss));
    CHECK(reports.back().train_loss < 0.9 * reports.front().train_loss);

    SteepRun in_one_batch(growth, {"train.not_finite=skip", "train.batch=20", "train.keep=last"});
    for (const EvaluationReport& report : in_one_batch.train()) CHECK(report.skipped == 1);
    CHECK(same_bits(copy_values(in_one_batch.model.parameters()), first));
  }
}

TEST_CASE("a run ends when a hundred updates in a row were skipped, also when it was resumed between") {
  const std::vector<std::string> set = {"train.not_finite=skip", "train.batch=20", "train.epochs=200"};
  SteepRun whole(100, set), before(100, set), after(100, set);
  const std::string message = "training diverged in epoch 100, step 1: 100 updates in a row were skipped";
  CHECK_THROWS_WITH_AS(whole.train(), doctest::Contains(message.c_str()), DivergenceError);
  std::string saved;
  std::int64_t steps = 0;
  CHECK_THROWS_AS(before.trainer.run({.stepped = [&](const StepReport&) { ++steps; },
                                      .save = [&] { saved = serialize_safetensors(before.trainer.pack()); },
                                      .stop_requested = [&] { return steps == 60; }}),
                  Interrupted);
  TensorReader reader(parse_safetensors(saved, "state"), "state");
  after.trainer.unpack(reader);
  CHECK_THROWS_WITH_AS(after.train(), doctest::Contains(message.c_str()), DivergenceError);
}

TEST_CASE("a batch whose loss is not finite is skipped where the experiment says so") {
  // h passes the largest f32 number: every batch is skipped, until valid has no finite loss either.
  Run run(kSmallSeries,
          {R"(cells={"grow": {"weights": {"b": ["units"]}, "init": {"b": "ones"}, "state": {"h": "units"},
                                       "step": ["h' = 100 * h + b"], "output": "h'"}})",
           R"(model.layers=[{"cell": "grow", "units": 2}])", "train.not_finite=skip"});
  const std::vector<Tensor> first = copy_values(run.model.parameters());
  CHECK_THROWS_WITH_AS(run.train(), doctest::Contains("after step 3 the loss on valid is not finite"),
                       DivergenceError);
  CHECK(run.trainer.state().skipped == 3);
  CHECK(run.trainer.state().skipped_in_all == 3);
  CHECK(same_bits(copy_values(run.model.parameters()), first));
}

TEST_CASE("running statistics that are not finite get nowhere") {
  constexpr const char* text = R"({
    "name": "normed", "seed": 2,
    "data": { "task": "random", "length": 5, "input": 1, "classes": 2, "train": 12, "valid": 4 },
    "model": { "layers": [ { "layer": "batch_norm" }, { "cell": "lem", "units": 3 } ] },
    "train": { "epochs": 2, "batch": 4, "keep": "last" } })";
  const auto with_huge_input = [](Run& run) {
    run.task.train = std::make_shared<OneConstant>(run.task.train, 5, 1e30);
  };
  Run stops(text), skips(text, {"train.not_finite=skip"});
  with_huge_input(stops);
  with_huge_input(skips);
  CHECK_THROWS_WITH_AS(stops.train(), doctest::Contains("layers.0.variance is not finite"), DivergenceError);
  for (const EvaluationReport& report : skips.train()) CHECK(report.skipped == 1);
  for (const Run* run : {&stops, &skips})
    for (const Parameter& parameter : run->model.parameters())
      for (std::int64_t i = 0; i < parameter.value.numel(); ++i) CHECK(std::isfinite(parameter.value.at(i)));
}

TEST_CASE("a state that was resumed knows numbers that are not finite") {
  // Cross-entropies above 709 have a perplexity beyond what f64 holds.
  const std::vector<std::string> set = {R"(metrics=["perplexity"])", "train.epochs=3",
                                        R"(optimizer={"type": "adam", "lr": 10000})"};
  Run whole(kRagged, set), before(kRagged, set), after(kRagged, set);
  whole.train();
  std::string saved;
  int evaluations = 0;
  CHECK_THROWS_AS(before.trainer.run({.evaluated = [&](const EvaluationReport&) { ++evaluations; },
                                      .save = [&] { saved = serialize_safetensors(before.trainer.pack()); },
                                      .stop_requested = [&] { return evaluations == 1; }}),
                  Interrupted);
  REQUIRE(std::isinf(before.trainer.state().kept->value));
  TensorReader reader(parse_safetensors(saved, "state"), "state");
  after.trainer.unpack(reader);
  CHECK(after.trainer.state().kept->value == before.trainer.state().kept->value);
  after.train();
  CHECK(same_bits(after.model.parameters(), whole.model.parameters()));
  CHECK(after.trainer.state().kept->position.epoch == whole.trainer.state().kept->position.epoch);
}

TEST_CASE("divergence of a state names it and the first step") {
  // h = 1.01 * 100 ** (n - 1) after step n passes the largest f32 number at n = 21.
  Run run(kSmallSeries,
          {R"(cells={"grow": {"weights": {"b": ["units"]}, "init": {"b": "ones"}, "state": {"h": "units"},
                                       "step": ["h' = 100 * h + b"], "output": "h'"}})",
           R"(model.layers=[{"cell": "grow", "units": 2}])"});
  CHECK_THROWS_WITH_AS(
      run.train(), doctest::Contains("state h of layer 0 (grow) after time step 21 of row 0 is not finite"),
      DivergenceError);
}

TEST_CASE("a state that leaves the grid says where the grid ends") {
  Run run(
      kSmallSeries,
      {R"(model.layers=[{"cell": "unicornn", "units": 2, "arithmetic": "grid", "dt": 1, "alpha": 1e4}])"});
  CHECK_THROWS_WITH_AS(run.train(),
                       doctest::Contains("(unicornn.0, on the grid, which ends at 2^18) after time step 3"),
                       DivergenceError);
}

TEST_CASE("a checkpoint of another model is refused") {
  Run small(kSmallSeries), large(kSmallSeries, {"model.layers.0.units=7"});
  TensorReader reader(small.trainer.pack(), "checkpoint");
  CHECK_THROWS_AS(large.trainer.unpack(reader), InputError);
}

TEST_CASE("a budget that cannot be met is refused before training") {
  CHECK_THROWS_WITH_AS(Run(kSmallSeries, {"train.memory={\"plan\": \"auto\", \"budget\": \"1KiB\"}"}),
                       doctest::Contains("Give a larger budget, fewer threads or a smaller batch"),
                       InputError);
  CHECK_THROWS_WITH_AS(Run(kSmallSeries, {"train.memory={\"plan\": \"full\", \"budget\": \"250KiB\"}"}),
                       doctest::Contains("/train/memory: plan full needs"), InputError);
}

TEST_CASE("reversible is refused by the place of the layer in the model") {
  CHECK_THROWS_WITH_AS(
      Run(kRagged,
          {"train.memory=reversible",
           R"(model.layers=[{"layer": "batch_norm"}, {"cell": "unicornn", "units": 3, "layers": 1, "dt": 0.1},
                                     {"cell": "lem", "units": 3}])"}),
      "test: /train/memory: plan reversible runs every layer backwards in time, but layer 2: state z is not "
      "on the grid. Give another plan, such as \"auto\".",
      InputError);
}
