#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tests/core/support/temporary_folder.h"
#include "lagtape/tests/core/support/thread_ranks.h"
#include "lagtape/tools/train/training_run.h"

// Trainings that several ranks share write the files of one process.

namespace lagtape {
namespace {

constexpr const char* kMixed = R"({
  "name": "mixed", "seed": 3,
  "data": { "task": "mackey_glass", "length": 60, "train": 50, "valid": 20, "test": 3 },
  "model": { "layers": [ { "layer": "batch_norm" }, { "cell": "tau_gru", "units": 6, "tau": 4 },
                         { "layer": "dropout", "rate": 0.2 }, { "cell": "lem", "units": 5 } ] },
  "metrics": [ "rmse" ],
  "optimizer": { "type": "adam", "lr": 0.02 },
  "train": { "epochs": 3, "batch": 48 } })";

Experiment experiment_with(const std::vector<std::string>& set) {
  return parse_experiment(kMixed, "test", "/", set);
}

/// Trains into the folder on so many ranks; stops each before the step with that number, if it is above 0.
void train(const std::filesystem::path& folder, const std::vector<std::string>& set, int count, bool resume,
           int stop_after = 0) {
  test::ThreadRanks::run(count, [&](Ranks& ranks) {
    const Experiment experiment = experiment_with(set);
    int steps = 0;
    RunOptions options{.folder = folder, .resume = resume, .ranks = count > 1 ? &ranks : nullptr};
    options.hooks.stepped = [&](const StepReport&) { ++steps; };
    // The first rank alone is asked to stop, as by a signal, and all do.
    options.hooks.stop_requested = [&, first = ranks.rank() == 0] {
      return first && stop_after > 0 && steps >= stop_after;
    };
    if (stop_after > 0)
      CHECK_THROWS_AS(train_run(experiment, options), Interrupted);
    else
      train_run(experiment, options);
  });
}

TEST_CASE("a training has the same weights on any number of ranks, stopped and resumed on others" *
          doctest::test_suite("slow")) {
  const TemporaryFolder folder;
  for (const std::vector<std::string>& set :
       {std::vector<std::string>{},
        {"model.layers=[{\"cell\":\"gru\",\"units\":6}]", "train.truncate=16"},
        {"model.layers=[{\"cell\":\"gru\",\"units\":6}]", "train.accumulate=2", "train.batch=20"}}) {
    const std::filesystem::path base = folder.path() / std::to_string(set.size());
    train(base / "alone", set, 1, false);
    const std::string expected = read_file(base / "alone" / "weights.safetensors");
    for (const int count : {2, 3, 5}) {
      const std::filesystem::path run = base / std::to_string(count);
      train(run, set, count, false);
      CHECK(read_file(run / "weights.safetensors") == expected);
    }
    train(base / "resumed", set, 3, false, 2);
    train(base / "resumed", set, 2, true);
    CHECK(read_file(base / "resumed" / "weights.safetensors") == expected);
  }
}

TEST_CASE("all ranks refuse what the first one refuses, and nothing is written") {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "file", "");
  CHECK_THROWS_AS(train(folder.path() / "file" / "run", {}, 3, false), InputError);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "file" / "run"));
}

TEST_CASE("ranks with other data, weights or settings are refused before the first step") {
  for (const auto& [setting, name] : {std::pair{"data.train=5", "training set"},
                                      {"seed=4", "experiment"},
                                      {"optimizer.lr=0.03", "experiment"}}) {
    const TemporaryFolder folder;
    const std::string message = text_of("rank 2 has another ", name, " than rank 0");
    CHECK_THROWS_WITH_AS(test::ThreadRanks::run(
                             3,
                             [&, setting = setting](Ranks& ranks) {
                               std::vector<std::string> set = {"data.train=4", "data.valid=2", "data.test=2"};
                               if (ranks.rank() == 2) set.push_back(setting);
                               train_run(experiment_with(set),
                                         {.folder = folder.path() / "run", .ranks = &ranks});
                             }),
                         doctest::Contains(message.c_str()), InputError);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "run" / "metrics.jsonl"));
  }
}

}  // namespace
}  // namespace lagtape
