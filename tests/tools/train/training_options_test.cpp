#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "lagtape/core/error.h"
#include "lagtape/data/batches.h"
#include "lagtape/tests/tools/train/training.h"
#include "lagtape/tools/train/short_training.h"
#include "lagtape/tools/train/training_run.h"

// When a training ends, and with what it begins; its updates, its targets and its data.

using namespace lagtape;

namespace {

constexpr const char* kStill = "optimizer={\"type\": \"sgd\", \"lr\": 1e-30}";

double largest_difference(const Parameters& a, const Parameters& b) {
  double largest = 0;
  auto other = b.begin();
  for (const Parameter& parameter : a) {
    for (std::int64_t i = 0; i < parameter.value.numel(); ++i)
      largest = std::max(largest, std::abs(parameter.value.at(i) - other->value.at(i)));
    ++other;
  }
  return largest;
}

struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / "lagtape-training-options-test") {
    std::filesystem::remove_all(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

}  // namespace

TEST_CASE("a run ends when valid has had no new best for so many evaluations") {
  Run still(kSmallSeries, {kStill, "train.patience=2", "train.epochs=50"});
  CHECK(still.train().size() == 3);  // the first is the best
  CHECK(still.trainer.has_stopped_early());
  CHECK(still.trainer.is_finished());
  Run patient(kSmallSeries, {kStill, "train.epochs=5"});
  CHECK(patient.train().size() == 5);
  Run learning(kSmallSeries, {"train.patience=2"});
  learning.train();
  CHECK_FALSE(learning.trainer.has_stopped_early());
  CHECK_THROWS_WITH_AS(
      Run(kSmallSeries, {"train.patience=2", "data.valid=0"}),
      "test: /train/patience: it counts evaluations of valid, which has no sequences. Give 0, or a "
      "valid set.",
      InputError);
}

TEST_CASE("on a plateau of valid the learning rate drops, also in a run that is resumed") {
  const std::vector<std::string> set = {
      R"(schedule={"type": "plateau", "patience": 2, "factor": 0.1, "floor": 0.01})", kStill,
      "train.epochs=8"};
  Run run(kSmallSeries, set);
  std::vector<double> rates;
  for (const EvaluationReport& report : run.train()) rates.push_back(report.lr / 1e-30);
  const std::vector<double> expected = {1, 1, 1, 0.1, 0.1, 0.01, 0.01, 0.01};
  REQUIRE(rates.size() == expected.size());
  for (std::size_t i = 0; i < rates.size(); ++i) CHECK(rates[i] == doctest::Approx(expected[i]));

  Run first(kSmallSeries, set), second(kSmallSeries, set);
  std::int64_t steps = 0;
  CHECK_THROWS_AS(first.trainer.run({.stepped = [&](const StepReport&) { ++steps; },
                                     .stop_requested = [&] { return steps == 13; }}),
                  Interrupted);
  TensorReader reader(first.trainer.pack(), "checkpoint");
  second.trainer.unpack(reader);
  rates.clear();
  for (const EvaluationReport& report : second.train()) rates.push_back(report.lr / 1e-30);
  REQUIRE(rates.size() == 4);
  CHECK(rates[0] == doctest::Approx(0.1));
  CHECK(rates[3] == doctest::Approx(0.01));
}

TEST_CASE("gradients of several batches make the update of one large batch") {
  const auto trained = [](std::vector<std::string> set) {
    set.insert(set.end(),
               {"train.precision=f64", "train.epochs=2", "optimizer={\"type\": \"sgd\", \"lr\": 0.1}"});
    Run run(kSmallSeries, set);
    run.train();
    return std::pair(run.trainer.state().position.step, std::move(run.model));
  };
  const auto large = trained({"train.batch=8"}), parts = trained({"train.batch=3", "train.accumulate=2"});
  const auto equal = trained({"train.batch=6"}), small = trained({"train.batch=3"});
  CHECK(parts.first == equal.first);
  CHECK(largest_difference(parts.second.parameters(), equal.second.parameters()) < 1e-12);
  CHECK(largest_difference(parts.second.parameters(), small.second.parameters()) > 1e-6);
  CHECK(largest_difference(parts.second.parameters(), large.second.parameters()) > 1e-6);
  CHECK_THROWS_WITH_AS(Run(kSmallSeries, {"train.accumulate=2", "train.truncate=10"}),
                       doctest::Contains("/train/accumulate: truncated BPTT makes an update"), InputError);
}

TEST_CASE("steps of the warm-up count in neither loss nor metrics") {
  Run all(kSmallSeries, {kStill}), late(kSmallSeries, {kStill, "train.warmup=20"});
  const Batch batch = gather(*all.task.valid, indices_in_order(*all.task.valid, 0, 5), Dtype::f32, all.pool);
  const Tensor outputs = all.trainer.op().evaluate(
      all.model.weights(), sequence_batch(batch, all.task.shape, Loss::mse), all.pool);
  double error = 0, count = 0;
  for (std::int64_t i = 0; i < outputs.numel(); ++i) {
    if (i % 60 < 20) continue;
    error += std::pow(outputs.at(i) - batch.y.at(i), 2);
    count += 1;
  }
  const double found = value_of(late.train().front().valid, "loss");
  CHECK(found == doctest::Approx(error / count).epsilon(1e-5));
  CHECK(value_of(all.train().front().valid, "loss") != doctest::Approx(found).epsilon(1e-3));
  CHECK_THROWS_WITH_AS(Run(kSmallSeries, {"train.warmup=60"}),
                       doctest::Contains("Got 60 for sequences of 60 steps."), InputError);
}

TEST_CASE("a training begins with another model's parameters of the same names and shapes") {
  const Folder folder;
  train_run(parse_experiment(kSmallSeries, "test", "/", std::vector<std::string>{"train.epochs=1"}),
            {.folder = folder.path / "first"});
  const std::string init = text_of("train.init=", (folder.path / "first").string());
  const Model before = Model::load(folder.path / "first");
  Run same(kSmallSeries, {init, "seed=9"});
  const auto weights = start_from_init(same.experiment, same.model);
  REQUIRE(weights);
  CHECK(weights->drawn.empty());
  CHECK(same_bits(same.model.parameters(), before.parameters()));
  Run wider(kSmallSeries, {init, "seed=9", R"(model.layers=[{"cell": "tau_gru", "units": 7, "tau": 4}])"});
  CHECK(start_from_init(wider.experiment, wider.model)->taken == std::vector<std::string>{"readout.W.bias"});
  Run other(kSmallSeries, {text_of("train.init=", (folder.path / "none").string())});
  CHECK_THROWS_WITH_AS(start_from_init(other.experiment, other.model), doctest::Contains("none"), InputError);
  CHECK_FALSE(start_from_init(Run(kSmallSeries).experiment, same.model));
}

TEST_CASE("a training of few batches learns and scores those alone") {
  Run run(kSmallSeries, {"train.overfit=1"});
  CHECK(run.trainer.steps_per_epoch() == 1);
  CHECK(run.task.train->size() == 8);
  CHECK(run.task.valid == run.task.train);
  CHECK(run.task.test == run.task.train);
}

TEST_CASE("a dry run makes three updates of a training and forgets them") {
  const Experiment experiment = parse_experiment(kSmallSeries, "test", "/");
  const DryRun run = dry_run(experiment, 1);
  CHECK(run.updates == 3);
  CHECK(run.steps == 18);
  CHECK(run.loss > 0);
  CHECK(run.seconds == run.seconds_per_update * 18);
}
