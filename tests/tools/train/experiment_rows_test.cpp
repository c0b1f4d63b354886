#include "lagtape/tools/train/experiment_rows.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tests/core/support/temporary_folder.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBase =
    R"({"name": "small", "data": {"task": "random", "length": 8, "input": 1, "output": 1},
  "model": {"layers": [{"cell": "gru", "units": 3}], "readout": {"at": "every_step"}},
  "loss": "mse", "optimizer": {"type": "adam", "lr": 0.01, "beta1": 0.8}, "train": {"epochs": 2}})";

constexpr const char* kRows = R"({ // what differs
  "base": "small.json",
  "rows": {
    "lem": {"name": "small-lem", "model": {"layers": [{"cell": "lem", "units": 2}]}},
    "plain": {"name": "small-plain", "optimizer": {"beta1": null, "lr": 0.1}, "train": {"epochs": 3}},
  } })";

struct Rows {
  TemporaryFolder folder;
  fs::path file = folder.path() / kRowsFile;
  explicit Rows(const std::string& rows = kRows) {
    write_file_atomically(folder.path() / "small.json", kBase);
    write_file_atomically(file, rows);
  }
  std::string error(const std::string& row) const {
    try {
      read_experiment(file, {}, row);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

Json merged(const char* target, const char* patch) {
  Json value = Json::parse(target);
  merge_patch(value, Json::parse(patch));
  return value;
}

TEST_CASE("a merge patch changes a value as RFC 7396 says") {
  // The examples of its Appendix A with an object as the target.
  const char* cases[][3] = {{R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
                            {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
                            {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
                            {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
                            {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
                            {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
                            {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
                            {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
                            {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
                            {R"({"a":"foo"})", R"("bar")", R"("bar")"}};
  for (const auto& [target, patch, result] : cases) {
    CAPTURE(patch);
    CHECK(merged(target, patch) == Json::parse(result));
  }
}

TEST_CASE("a row is the experiment with what the row changes, and --set changes the row") {
  const Rows rows;
  const Experiment lem = read_experiment(rows.file, {}, "lem");
  CHECK(lem.name == "small-lem");
  CHECK(lem.train.epochs == 2);
  const Experiment plain = read_experiment(rows.file, std::vector<std::string>{"train.epochs=5"}, "plain");
  Json whole = Json::parse(kBase);
  whole["name"] = "small-plain";
  whole["optimizer"] = {{"type", "adam"}, {"lr", 0.1}};
  whole["train"]["epochs"] = 5;
  CHECK(plain.json() == parse_experiment(whole.dump(), "whole", rows.folder.path()).json());
  CHECK(experiments_in(rows.folder.path()) == std::vector<std::string>{"lem", "plain", "small"});
  CHECK(experiment_in(rows.folder.path(), "lem").arguments() ==
        std::vector<std::string>{rows.file.string(), "--row", "lem"});
  CHECK(experiment_in(rows.folder.path(), "small").arguments() ==
        std::vector<std::string>{(rows.folder.path() / "small.json").string()});
}

TEST_CASE("a missing or unknown row is an error that names the rows, and errors of a row name it") {
  const Rows rows;
  CHECK(rows.error("") ==
        rows.file.string() + ": has several experiments. Choose one with --row: lem, plain.");
  CHECK(rows.error("lme").find("--row: unknown row 'lme'; did you mean 'lem'?") != std::string::npos);
  CHECK_THROWS_WITH_AS(read_experiment(rows.folder.path() / "small.json", {}, "lem"),
                       doctest::Contains("is one experiment, without rows"), InputError);
  CHECK_THROWS_WITH_AS(read_experiment(rows.folder.path() / "plain.json"),
                       doctest::Contains("It is a row: give "), InputError);
  const Rows wrong(R"({"base": "small.json", "rows": {"a": {"name": "a", "los": "mse"}}})");
  CHECK(wrong.error("a").find(kRowsFile + std::string(", row a: ")) != std::string::npos);
  CHECK(wrong.error("a").find("'los'") != std::string::npos);
}

TEST_CASE("a file with rows is checked") {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"rows": []})", "/rows: expected objects by their names"},
      {R"({"rows": {"a": 3}})", "/rows/a: expected an object"},
      {R"({"rows": {"a": {}}, "base": 3})", "/base: expected an experiment"},
      {R"({"rows": {"a": {}}, "base": "../small.json"})",
       "/base: expected the name of a file in the same folder"},
      {R"({"rows": {"a": {}}, "base": "rows.json"})", "is not one experiment"},
      {R"({"rows": {"a": {}}, "data": {}})", "/data: "}};
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    CHECK(Rows(text).error("a").find(message) != std::string::npos);
  }
}

TEST_CASE("every shipped experiment is one, and its model fits its data where files do not decide them") {
  std::size_t count = 0, built = 0;
  for (const auto& task : fs::directory_iterator(fs::path(LAGTAPE_SOURCE) / "tools/experiments")) {
    if (!task.is_directory()) continue;
    for (const std::string& name : experiments_in(task.path())) {
      const ExperimentPlace place = experiment_in(task.path(), name);
      CAPTURE(place.text());
      const Experiment experiment = read_experiment(place.file, {}, place.row);
      ++count;
      if (!experiment.data.shape) continue;
      CHECK(undrawn_model(experiment, *experiment.data.shape).parameters().count() > 0);
      ++built;
    }
  }
  CHECK(count > 300);
  CHECK(built > 200);
}

}  // namespace
}  // namespace lagtape
