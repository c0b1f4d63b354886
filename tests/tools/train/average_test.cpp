#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tests/tools/train/training.h"

// Training with the average of weights: when it begins, what is evaluated and kept, stopping and going on.

using namespace lagtape;

namespace {

constexpr const char* kSeries = R"({
  "name": "series", "seed": 3,
  "data": { "task": "mackey_glass", "length": 60, "train": 20, "valid": 5, "test": 3 },
  "model": { "layers": [ { "cell": "tau_gru", "units": 6, "tau": 4 } ] },
  "metrics": [ "rmse" ],
  "optimizer": { "type": "adam", "lr": 0.02 },
  "train": { "epochs": 9, "batch": 8, "average": { "latest": 4 } } })";

constexpr const char* kNormalized = R"({
  "name": "normalized",
  "data": { "task": "random", "length": 20, "lengths": "random", "input": 2, "classes": 3,
            "train": 11, "valid": 4 },
  "model": { "layers": [ { "cell": "gru", "units": 5 }, { "layer": "batch_norm" } ] },
  "train": { "epochs": 6, "batch": 4, "average": { "latest": 2 } } })";

constexpr const char* kFresh = R"({
  "name": "sum",
  "data": { "task": "adding", "length": 12, "valid": 4, "test": 0 },
  "model": { "layers": [ { "cell": "lstm", "units": 4 } ] },
  "train": { "steps": 24, "evaluate_every": 4, "batch": 3, "average": { "latest": 3 } } })";

constexpr const char* kStill = "optimizer={\"type\": \"sgd\", \"lr\": 1e-30}";

/// The number of epochs after which the average begins; 0: it does not.
std::int64_t begins(Run& run) {
  std::int64_t epoch = 0;
  for (const EvaluationReport& report : run.train())
    if (report.average_begins) epoch = epoch == 0 ? report.position.epoch : -1;
  return epoch;
}

/// The mean of values that were recorded one after another.
std::vector<Tensor> mean_of(const std::vector<std::vector<Tensor>>& recorded) {
  std::vector<Tensor> means;
  for (std::size_t p = 0; p < recorded.front().size(); ++p) {
    means.push_back(recorded.front()[p].to(Dtype::f64).clone());
    for (std::int64_t i = 0; i < means[p].numel(); ++i) {
      long double sum = 0;
      for (const std::vector<Tensor>& values : recorded) sum += values[p].at(i);
      means[p].set(i, static_cast<double>(sum / static_cast<long double>(recorded.size())));
    }
  }
  return means;
}

double distance(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double largest = 0;
  for (std::size_t p = 0; p < a.size(); ++p)
    for (std::int64_t i = 0; i < a[p].numel(); ++i)
      largest = std::max(largest, std::abs(a[p].at(i) - b[p].at(i)));
  return largest;
}

}  // namespace

TEST_CASE("evaluations have the mean of the weights after every update since the average began") {
  Run run(kSeries, {"train.precision=f64"}), plain(kSeries, {"train.precision=f64", "train.average=null"});
  std::vector<std::vector<Tensor>> weights, too_many;
  std::vector<double> values;
  int averaged = 0;
  run.trainer.run({.stepped =
                       [&](const StepReport& report) {
                         if (report.position.step > 12)
                           weights.push_back(copy_values(run.model.parameters()));
                         if (report.position.step >= 12)
                           too_many.push_back(copy_values(run.model.parameters()));
                       },
                   .evaluated =
                       [&](const EvaluationReport& report) {
                         CHECK(report.average_begins == (report.position.epoch == 4));
                         values.push_back(value_of(report.valid, "rmse"));
                         CHECK(report.averaged == static_cast<std::int64_t>(weights.size()));
                         if (weights.empty()) return;
                         ++averaged;
                         const std::vector<Tensor> evaluated = copy_values(run.model.parameters());
                         CHECK(distance(evaluated, mean_of(weights)) < 1e-14);
                         CHECK(distance(evaluated, mean_of(too_many)) > 1e-5);
                         CHECK(distance(evaluated, weights.back()) > 1e-5);
                       }});
  CHECK(averaged == 5);
  CHECK(run.trainer.state().average.begun->epoch == 4);
  const auto reports = plain.train();
  CHECK(same_bits(copy_values(run.model.parameters()), copy_values(plain.model.parameters())));
  for (std::size_t i = 0; i < reports.size(); ++i)
    CHECK((value_of(reports[i].valid, "rmse") == values[i]) == (i < 4));
}

TEST_CASE("every segment of truncated BPTT is an update of the average") {
  Run run(kSeries, {"train.truncate=16"});  // 3 batches of 4 segments an epoch
  CHECK(run.train().back().averaged == 5 * 3 * 4);
}

TEST_CASE("the average begins after so many evaluations without a new best, or at the latest") {
  const auto begins_with = [](const char* average, const std::vector<std::string>& more) {
    std::vector<std::string> set = more;
    set.push_back(text_of("train.average=", average));
    Run run(kSeries, set);
    return begins(run);
  };
  CHECK(begins_with(R"({"patience": 3})", {kStill}) == 4);  // the first evaluation is a best one
  CHECK(begins_with(R"({"patience": 3, "latest": 2})", {kStill}) == 2);
  CHECK(begins_with(R"({"patience": 3, "latest": 6})", {kStill}) == 4);
  CHECK(begins_with(R"({"patience": 1})", {"optimizer.lr=0.002", "train.epochs=5"}) ==
        0);  // it gets better all the time
  CHECK(begins_with(R"({"patience": 1, "latest": 5})", {"optimizer.lr=0.002", "train.epochs=5"}) == 5);
  CHECK(begins_with(R"({"patience": 9})", {kStill}) == 0);
  // Without valid there is nothing to get better.
  CHECK_THROWS_AS(begins_with(R"({"patience": 1})", {kStill, "data.valid=0"}), InputError);
  CHECK(begins_with(R"({"patience": 1, "latest": 5})", {kStill, "data.valid=0"}) == 5);
  // The metric is one of which larger values are better.
  Run accuracy(kNormalized,
               {"train.average={\"patience\": 2}", kStill, R"(model.layers=[{"cell": "gru", "units": 5}])"});
  CHECK(begins(accuracy) == 3);
}

TEST_CASE("evaluations without a new best are counted in a row, whatever is kept") {
  for (const char* keep : {"train.keep=best", "train.keep=last"}) {
    Run run(kSeries, {"optimizer.lr=0.2", "train.epochs=40", "train.average={\"patience\": 3}", keep});
    double best = INFINITY;
    std::int64_t stalled = 0, longest = 0;
    bool begun = false;
    for (const EvaluationReport& report : run.train()) {
      const double value = value_of(report.valid, "rmse");
      stalled = value < best ? 0 : stalled + 1;
      best = std::min(best, value);
      if (begun) continue;
      CHECK(report.average_begins == (stalled == 3));
      if (!report.average_begins) longest = std::max(longest, stalled);
      begun = report.average_begins;
    }
    CHECK(begun);
    CHECK(longest == 2);
    CHECK(run.trainer.state().average.begun->epoch > 4);
  }
}

TEST_CASE("what is kept are the weights that were evaluated") {
  for (const char* keep : {"train.keep=best", "train.keep=last"}) {
    CAPTURE(keep);
    Run run(kSeries, {"optimizer.lr=0.2", "train.epochs=15", keep});
    const auto reports = run.train();
    const KeptState& kept = *run.trainer.state().kept;
    const auto found = std::ranges::find_if(
        reports, [&](const EvaluationReport& report) { return report.position.step == kept.position.step; });
    CHECK(kept.averaged == found->averaged);
    CHECK(kept.averaged > 0);
    if (std::string_view(keep) == "train.keep=last") CHECK(kept.averaged == 3 * 11);
    for (const EvaluationReport& report : reports)
      if (std::string_view(keep) == "train.keep=best") CHECK(value_of(report.valid, "rmse") >= kept.value);
    run.trainer.load_kept();
    const Evaluation again = evaluate(run.experiment, run.model, run.trainer.op(), *run.task.valid, run.pool);
    CHECK(value_of(again, "rmse") == kept.value);
    CHECK(value_of(again, "rmse") == value_of(found->valid, "rmse"));
  }
}

TEST_CASE("running statistics are taken as they are") {
  Run run(kNormalized, {"train.keep=last"});
  run.train();
  const std::vector<Tensor> weights = copy_values(run.model.parameters());
  run.trainer.load_kept();
  std::size_t i = 0, statistics = 0;
  for (const Parameter& parameter : run.model.parameters()) {
    CHECK(same_bits(parameter.value, weights[i++]) == !parameter.trainable);
    statistics += !parameter.trainable;
  }
  CHECK(statistics == 2);
}

TEST_CASE("threads and plans change no bit of the average") {
  for (const char* text : {kSeries, kNormalized}) {
    const std::string keep = "train.keep=last";
    Run one(text, {keep}, 1), three(text, {keep}, 3), states(text, {keep, "train.memory=states"});
    for (Run* run : {&one, &three, &states}) {
      run->train();
      CHECK(run->trainer.state().kept->averaged > 0);
      CHECK(same_bits(run->trainer.state().kept->parameters, one.trainer.state().kept->parameters));
    }
  }
}

TEST_CASE("an averaging run that was stopped anywhere and taken up again ends with the same bits" *
          doctest::test_suite("slow")) {
  const std::pair<const char*, const char*> table[] = {
      {kSeries, "train.epochs=9"},
      {kSeries, "train.keep=last"},
      {kSeries, "train.truncate=16"},
      {kSeries, "train.precision=f64"},
      {kSeries, "train.average={\"patience\": 2}"},
      {kNormalized, "train.epochs=6"},
      {kFresh, "train.steps=24"},
  };
  for (const auto& row : table) {
    const char *text = row.first, *change = row.second;
    CAPTURE(change);
    std::vector<std::string> set = {change};
    if (std::string_view(change).find("patience") != std::string::npos) set.push_back(kStill);
    Run whole(text, set);
    const auto reports = whole.train();
    CHECK(whole.trainer.state().average.begun.has_value());
    const SafetensorsFile end = whole.trainer.pack();
    // The run is stopped each time the trainer asks: before every step, and within evaluations, when the
    // averaged weights are in place.
    for (int stop = 1;; stop += 3) {
      CAPTURE(stop);
      Run before(text, set, 1);
      int polls = 0;
      std::string saved;
      bool stopped = false;
      try {
        before.trainer.run({.save = [&] { saved = serialize_safetensors(before.trainer.pack()); },
                            .stop_requested = [&] { return ++polls == stop; }});
      } catch (const Interrupted&) {
        stopped = true;
      }
      if (!stopped) {
        CHECK(stop > 20);
        break;
      }
      Run after(text, set, 3);
      TensorReader reader(parse_safetensors(saved, "state"), "state");
      after.trainer.unpack(reader);
      after.train();
      const SafetensorsFile again = after.trainer.pack();
      REQUIRE(again.tensors.size() == end.tensors.size());
      for (std::size_t i = 0; i < end.tensors.size(); ++i) {
        CAPTURE(end.tensors[i].name);
        CHECK(again.tensors[i].name == end.tensors[i].name);
        CHECK(same_bits(again.tensors[i].tensor, end.tensors[i].tensor));
      }
      CHECK(after.trainer.state().kept->value == whole.trainer.state().kept->value);
      CHECK(after.trainer.state().kept->averaged == whole.trainer.state().kept->averaged);
      CHECK(after.trainer.state().average.begun->step == whole.trainer.state().average.begun->step);
    }
  }
}

TEST_CASE("a checkpoint without its average is refused") {
  Run whole(kSeries), after(kSeries);
  whole.train();
  SafetensorsFile file = whole.trainer.pack();
  std::erase_if(file.tensors, [](const NamedTensor& tensor) { return tensor.name == "average.readout.W"; });
  TensorReader reader(file, "checkpoint");
  CHECK_THROWS_WITH_AS(after.trainer.unpack(reader), doctest::Contains("average.readout.W"), InputError);
}
