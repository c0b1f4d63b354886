#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/safetensors.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/json/normalization_json.h"
#include "lagtape/core/normalization.h"
#include "lagtape/tests/tools/train/training.h"
#include "lagtape/tools/train/training_run.h"

using namespace lagtape;
namespace fs = std::filesystem;

namespace {

/// A folder of the test's own.
struct Folder {
  fs::path path = fs::temp_directory_path() / text_of("lagtape-run-test-", ::getpid(), "-", number++);
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  inline static int number = 0;
};

Experiment experiment(const std::vector<std::string>& set = {}) {
  return parse_experiment(kSmallSeries, "test", "/", set);
}

/// Trains until `steps` steps are done, or to the end.
bool train_until(std::int64_t steps, const fs::path& path, const std::vector<std::string>& set = {},
                 int threads = 2) {
  std::int64_t done = 0;
  try {
    train_run(experiment(set),
              {.folder = path,
               .resume = fs::exists(path),
               .threads = threads,
               .hooks = {.stepped = [&](const StepReport& report) { done = report.position.step; },
                         .stop_requested = [&] { return steps >= 0 && done >= steps; }}});
  } catch (const Interrupted&) {
    return false;
  }
  return true;
}

/// metrics.jsonl without the seconds.
std::vector<Json> metrics_of(const fs::path& run) {
  std::vector<Json> rows;
  std::istringstream text(read_file(run / "metrics.jsonl"));
  for (std::string line; std::getline(text, line);) {
    rows.push_back(parse_json(line, "metrics"));
    rows.back().erase("seconds");
  }
  return rows;
}

}  // namespace

TEST_CASE("a run leaves its files, and its experiment trains the same weights") {
  const Folder folder;
  const RunSummary summary = train_run(experiment(), {.folder = folder.path / "run"});
  for (const char* name : {"experiment.json", "metrics.jsonl", "weights.safetensors", "summary.json"}) {
    CHECK(fs::is_regular_file(folder.path / "run" / name));
  }
  CHECK(metrics_of(folder.path / "run").size() == 6);
  CHECK(summary.params == 4 * (36 + 6 + 12) + 7);
  const Json written = parse_json(read_file(folder.path / "run/summary.json"), "summary");
  CHECK(written["test"]["rmse"] == value_of(summary.test, "rmse"));
  CHECK(written["us_per_step"].get<double>() > 0);

  train_run(read_experiment(folder.path / "run/experiment.json"),
            {.folder = folder.path / "again", .threads = 2});
  for (const char* name : {"experiment.json", "weights.safetensors"}) {
    CHECK(read_file(folder.path / "run" / name) == read_file(folder.path / "again" / name));
  }
}

TEST_CASE("a run stopped anywhere ends with the same files" * doctest::test_suite("slow")) {
  const Folder folder;
  REQUIRE(train_until(-1, folder.path / "whole"));
  for (const std::int64_t stop : {0, 1, 3, 4, 8, 14}) {
    CAPTURE(stop);
    const fs::path run = folder.path / text_of("stopped-", stop);
    CHECK_FALSE(train_until(stop, run));
    CHECK(train_until(-1, run, {}, 1));
    CHECK(read_file(run / "weights.safetensors") == read_file(folder.path / "whole/weights.safetensors"));
    CHECK(metrics_of(run) == metrics_of(folder.path / "whole"));
  }
}

TEST_CASE("files from after the checkpoint are as if they had never been") {
  const Folder folder;
  REQUIRE(train_until(-1, folder.path / "whole"));
  const fs::path run = folder.path / "run";
  CHECK_FALSE(train_until(4, run));
  const std::string checkpoint = read_file(run / "checkpoint/state.safetensors");
  CHECK_FALSE(train_until(9, run));
  // A kill between the writes of the last evaluation: metrics and weights are ahead of the checkpoint.
  write_file_atomically(run / "checkpoint/state.safetensors", checkpoint);
  write_file_atomically(run / "checkpoint/.state.safetensors.1.0.tmp", "half of a fi");
  CHECK(train_until(-1, run));
  CHECK(read_file(run / "weights.safetensors") == read_file(folder.path / "whole/weights.safetensors"));
  CHECK(metrics_of(run) == metrics_of(folder.path / "whole"));
  CHECK_FALSE(fs::exists(run / "checkpoint/.state.safetensors.1.0.tmp"));
}

TEST_CASE("a run from before an option was there goes on with its default") {
  const Folder folder;
  REQUIRE(train_until(-1, folder.path / "whole"));
  const fs::path run = folder.path / "run", checkpoint = run / "checkpoint/state.safetensors";
  CHECK_FALSE(train_until(4, run));
  const auto without = [](const std::string& text) {
    Json json = parse_json(text, "experiment");
    CHECK(json["train"].erase("clip") == 1);
    CHECK(json["model"]["readout"].erase("tied") == 1);
    return json.dump();
  };
  SafetensorsFile file = read_safetensors(checkpoint);
  std::string& trained = file.metadata["experiment"];
  trained = without(trained);
  CHECK(file.metadata.erase("normalization") == 1);
  write_safetensors(checkpoint, file);
  write_file_atomically(run / "experiment.json", without(read_file(run / "experiment.json")));
  CHECK(train_until(-1, run));
  CHECK(read_file(run / "weights.safetensors") == read_file(folder.path / "whole/weights.safetensors"));
}

TEST_CASE("a run does not go on with data that are scaled otherwise") {
  const Folder folder;
  const fs::path run = folder.path / "run", checkpoint = run / "checkpoint/state.safetensors";
  CHECK_FALSE(train_until(4, run));
  SafetensorsFile file = read_safetensors(checkpoint);
  file.metadata["normalization"] =
      json_of(Normalization{.input = {}, .output = {.mean = {0.5}, .scale = {2}}});
  write_safetensors(checkpoint, file);
  const std::string before = read_file(checkpoint);
  CHECK_THROWS_WITH_AS(train_until(-1, run), doctest::Contains("trained with data of other means and scales"),
                       InputError);
  CHECK(read_file(checkpoint) == before);
}

TEST_CASE("weights with a normalization that does not fit are refused by its name") {
  const Folder folder;
  CHECK_FALSE(train_until(4, folder.path / "run"));
  const fs::path weights = folder.path / "run/weights.safetensors";
  const auto message = [&](const std::string& normalization) -> std::string {
    SafetensorsFile file = read_safetensors(weights);
    file.metadata["normalization"] = normalization;
    write_safetensors(folder.path / "other.safetensors", file);
    try {
      Model::load(folder.path / "other.safetensors");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const Normalization two = {.input = {.mean = {0, 1}, .scale = {1, 1}}, .output = {}};
  const Normalization zero = {.input = {}, .output = {.mean = {0.5}, .scale = {0}}};
  CHECK(message(json_of(Normalization{})).empty());
  CHECK(message(json_of(two))
            .ends_with("other.safetensors: expected a mean and a scale for each "
                       "of 1 inputs, or none, got 2 means, 2 scales"));
  CHECK(message(json_of(zero))
            .ends_with("scale of output 0: expected a number from 1.17549e-38 to 3.40282e+38, got 0"));
  CHECK(
      message(R"({"input_mean": []})").ends_with("normalization.input_scale: expected an array of numbers"));
  CHECK(message(R"({"input_mean": ["1"]})")
            .ends_with("normalization.input_mean: expected an array of numbers"));
  CHECK(message("{").find("other.safetensors: normalization: line 1") != std::string::npos);
}

TEST_CASE("a run killed after any checkpoint ends with the same files" * doctest::test_suite("slow")) {
  const Folder folder;
  int saves = 0;
  const auto copy = [&] {
    fs::copy(folder.path / "whole", folder.path / text_of("copy-", saves++), fs::copy_options::recursive);
  };
  train_run(experiment(), {.folder = folder.path / "whole", .hooks = {.save = copy, .save_interval = 0}});
  CHECK(saves >= 15);
  for (int i = 0; i < saves; ++i) {
    CAPTURE(i);
    const fs::path run = folder.path / text_of("copy-", i);
    fs::remove(run / "weights.safetensors");  // the checkpoint has them too
    CHECK(train_until(-1, run));
    CHECK(read_file(run / "weights.safetensors") == read_file(folder.path / "whole/weights.safetensors"));
    CHECK(metrics_of(run) == metrics_of(folder.path / "whole"));
  }
}

TEST_CASE("a resumed run may have more epochs and nothing else") {
  const Folder folder;
  REQUIRE(train_until(-1, folder.path / "whole", {"train.epochs=7"}));
  REQUIRE(train_until(-1, folder.path / "run"));
  CHECK_THROWS_WITH_AS(train_until(-1, folder.path / "run", {"optimizer.lr=0.1"}),
                       doctest::Contains("Got /optimizer/lr 0.1, the run has 0.02"), InputError);
  CHECK(train_until(-1, folder.path / "run", {"train.epochs=7"}));
  CHECK(read_file(folder.path / "run/weights.safetensors") ==
        read_file(folder.path / "whole/weights.safetensors"));
}

TEST_CASE("a resumed run may skip what is not finite from then on, but not the other way round") {
  const Folder folder;
  const std::vector<std::string> skip = {"train.not_finite=skip"};
  REQUIRE(train_until(-1, folder.path / "whole", skip));
  CHECK_FALSE(train_until(4, folder.path / "run"));
  CHECK(train_until(-1, folder.path / "run", skip));
  CHECK(read_file(folder.path / "run/weights.safetensors") ==
        read_file(folder.path / "whole/weights.safetensors"));
  CHECK_THROWS_WITH_AS(train_until(-1, folder.path / "run"),
                       doctest::Contains(R"(Got /train/not_finite "stop", the run has "skip")"), InputError);
}

TEST_CASE("a resumed run may have another memory plan, which changes no bit") {
  const Folder folder;
  REQUIRE(train_until(-1, folder.path / "whole"));
  CHECK_FALSE(train_until(4, folder.path / "run"));
  CHECK(train_until(-1, folder.path / "run", {"train.memory=states"}));
  const auto numbers = [&](const char* run) {
    return read_safetensors(folder.path / run / "weights.safetensors").tensors;
  };
  const auto whole = numbers("whole"), other = numbers("run");
  REQUIRE(whole.size() == other.size());
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(same_bits(whole[i].tensor, other[i].tensor));
}

TEST_CASE("a resumed run on fresh data may have more steps") {
  const auto until = [](std::int64_t steps, const fs::path& path) {
    constexpr const char* adding = R"({
      "name": "adding", "data": { "task": "adding", "length": 12, "fresh": true, "valid": 4, "test": 3 },
      "model": { "layers": [ { "cell": "lem", "units": 5 } ] },
      "optimizer": { "type": "adam", "lr": 0.05 },
      "train": { "steps": 7, "evaluate_every": 5, "batch": 4, "keep": "last" } })";
    const std::vector<std::string> set = {text_of("train.steps=", steps)};
    train_run(parse_experiment(adding, "test", "/", set), {.folder = path, .resume = fs::exists(path)});
  };
  const Folder folder;
  until(9, folder.path / "whole");
  until(7, folder.path / "run");
  CHECK(read_file(folder.path / "run/weights.safetensors") !=
        read_file(folder.path / "whole/weights.safetensors"));
  CHECK_THROWS_WITH_AS(until(6, folder.path / "run"), doctest::Contains("7 steps are done already"),
                       InputError);
  until(9, folder.path / "run");
  CHECK(read_file(folder.path / "run/weights.safetensors") ==
        read_file(folder.path / "whole/weights.safetensors"));
  CHECK(metrics_of(folder.path / "run").size() == metrics_of(folder.path / "whole").size() + 1);
}

TEST_CASE("a folder where a run may not begin is refused and stays as it is") {
  const Folder folder;
  const auto refused = [&] {
    try {
      train_run(experiment(), {.folder = folder.path});
    } catch (const InputError& error) {
      return error.problems();
    }
    return std::vector<Problem>{};
  }();
  CHECK(refused.at(0).rule == Rule::exists);
  CHECK(refused.at(0).place.file == folder.path.string());
  write_file_atomically(folder.path / "file", "text");
  CHECK_THROWS_WITH_AS(train_run(experiment(), {.folder = folder.path / "file/run"}),
                       doctest::Contains("not a folder"), InputError);
  CHECK_THROWS_AS(train_run(experiment(), {.folder = folder.path / "file", .resume = true}), InputError);
  fs::create_directory(folder.path / "copied");
  write_file_atomically(folder.path / "copied/weights.safetensors", "precious");
  CHECK_THROWS_WITH_AS(train_run(experiment(), {.folder = folder.path / "copied", .resume = true}),
                       doctest::Contains("no checkpoint"), InputError);
  CHECK(read_file(folder.path / "copied/weights.safetensors") == "precious");
}

TEST_CASE("a run folder with links is refused by their names, and what they lead to stays as it is") {
  const Folder folder;
  CHECK_FALSE(train_until(4, folder.path / "whole"));
  for (const char* name : {"experiment.json", "metrics.jsonl", "weights.safetensors", "summary.json",
                           "checkpoint", "checkpoint/state.safetensors"}) {
    CAPTURE(name);
    const fs::path run = folder.path / "run", elsewhere = folder.path / "elsewhere";
    fs::remove_all(run);
    fs::remove_all(elsewhere);
    fs::copy(folder.path / "whole", run, fs::copy_options::recursive);
    if (fs::exists(run / name))
      fs::rename(run / name, elsewhere);
    else
      write_file_atomically(elsewhere, "precious");
    const std::string before = fs::is_directory(elsewhere) ? "" : read_file(elsewhere);
    if (fs::is_directory(elsewhere)) write_file_atomically(elsewhere / ".mine.tmp", "precious");
    fs::create_symlink(elsewhere, run / name);
    const std::string message = (run / name).string() + ": is a link";
    CHECK_THROWS_WITH_AS(train_until(-1, run), doctest::Contains(message.c_str()), InputError);
    if (fs::is_directory(elsewhere))
      CHECK(read_file(elsewhere / ".mine.tmp") == "precious");
    else
      CHECK(read_file(elsewhere) == before);
  }
}

TEST_CASE("only temporaries of the run's own files are removed") {
  const Folder folder;
  const fs::path run = folder.path / "run";
  CHECK_FALSE(train_until(4, run));
  write_file_atomically(run / ".notes.tmp", "mine");
  write_file_atomically(run / ".weights.safetensors.12.0.tmp", "half");
  CHECK(train_until(-1, run));
  CHECK(read_file(run / ".notes.tmp") == "mine");
  CHECK_FALSE(fs::exists(run / ".weights.safetensors.12.0.tmp"));
}

TEST_CASE("a kill in the first save leaves nothing for good") {
  const Folder folder;
  const fs::path run = folder.path / "run";
  fs::create_directories(run / "checkpoint");
  write_file_atomically(run / ".experiment.json.12.0.tmp", "half");
  write_file_atomically(run / "checkpoint/.state.safetensors.12.0.tmp", "half");
  CHECK(train_until(-1, run));
  CHECK_FALSE(fs::exists(run / ".experiment.json.12.0.tmp"));
  CHECK_FALSE(fs::exists(run / "checkpoint/.state.safetensors.12.0.tmp"));
}

TEST_CASE("a line of the metrics that a kill cut short is dropped") {
  const Folder folder;
  REQUIRE(train_until(-1, folder.path / "whole"));
  const fs::path run = folder.path / "run";
  CHECK_FALSE(train_until(9, run));
  append_to_file(run / "metrics.jsonl", "{\"epoch\": 3, \"st");
  CHECK(train_until(-1, run));
  CHECK(metrics_of(run) == metrics_of(folder.path / "whole"));
}

TEST_CASE("a run that another process finished in the meantime is not overwritten") {
  const Folder folder;
  const fs::path run = folder.path / "run";
  const Experiment own = experiment();
  ThreadPool pool(1);
  const Task task = own.load_task(pool);
  Model model = build_model(own, task.shape);
  const Trainer trainer(own, task, model, pool);
  RunFolder(run).check(own, false);
  REQUIRE(train_until(-1, run));
  const std::string weights = read_file(run / "weights.safetensors"),
                    summary = read_file(run / "summary.json");
  CHECK_THROWS_WITH_AS(RunFolder(run).begin(own, trainer),
                       doctest::Contains("another training has begun there"), InputError);
  CHECK(read_file(run / "weights.safetensors") == weights);
  CHECK(read_file(run / "summary.json") == summary);
}

TEST_CASE("a position that no training reaches is refused before anything changes") {
  const Folder folder;
  const fs::path run = folder.path / "run", checkpoint = run / "checkpoint/state.safetensors";
  REQUIRE(train_until(-1, run));
  const SafetensorsFile whole = read_safetensors(checkpoint);
  const std::string summary = read_file(run / "summary.json");
  const std::string damaged = "the training state in the metadata is damaged.", apart = "do not agree.";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[-5, 0, 15]", damaged},
      {"[1.5, 0, 15]", damaged},
      {"[1e300, 0, 15]", damaged},
      {"[0, 99, 15]", apart},
      {"[6, 0, 14]", apart},
      {"[0, 0]", damaged},
      {"[9223372036854775807, 0, 9223372036854775807]", damaged},
      {"\"here\"", damaged},
      {"[true, 0, 0]", damaged}};
  for (const auto& [position, message] : cases) {
    CAPTURE(position);
    SafetensorsFile file = whole;
    Json state = parse_json(file.metadata["state"], "state");
    state["position"] = parse_json(position, "position");
    file.metadata["state"] = state.dump();
    write_safetensors(checkpoint, file);
    CHECK_THROWS_WITH_AS(train_until(-1, run, {"train.epochs=9"}), doctest::Contains(message.c_str()),
                         InputError);
    CHECK(read_file(run / "summary.json") == summary);
  }
}

TEST_CASE("a damaged checkpoint is refused by its name") {
  const Folder folder;
  CHECK_FALSE(train_until(4, folder.path / "run"));
  const fs::path file = folder.path / "run/checkpoint/state.safetensors";
  const std::string whole = read_file(file);
  write_file_atomically(file, whole.substr(0, whole.size() / 2));
  CHECK_THROWS_WITH_AS(train_until(-1, folder.path / "run"),
                       doctest::Contains("checkpoint/state.safetensors"), InputError);
}

TEST_CASE("a diverged run keeps weights that can be loaded") {
  const Folder folder;
  CHECK_THROWS_WITH_AS(
      train_run(experiment({"optimizer={\"type\": \"sgd\", \"lr\": 1e38}"}), {.folder = folder.path / "run"}),
      doctest::Contains("last good state is kept"), DivergenceError);
  const Model model = Model::load(folder.path / "run");
  for (const Parameter& parameter : model.parameters()) CHECK(std::isfinite(parameter.value.at(0)));
}
