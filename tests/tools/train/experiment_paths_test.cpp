#include "lagtape/tools/train/experiment_paths.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {
namespace {

namespace fs = std::filesystem;

Json experiment_with(Json path) {
  return {{"name", "a"}, {"data", {{"task", "series"}, {"path", std::move(path)}}}};
}

Json relative(Json path, const fs::path& folder) {
  return with_relative_paths(experiment_with(std::move(path)), folder)["data"]["path"];
}

TEST_CASE("paths begin at the folder of the file and never at the root") {
  CHECK(relative("/home/me/data/x.csv", "/home/me/runs/a") == "../../data/x.csv");
  CHECK(relative("/home/me/data/x.csv", "/home/me/data/") == "x.csv");
  CHECK(relative("/home/me/data/x.csv", "/tmp/runs") == "x.csv");
  CHECK(relative("/home/me/data/x.csv", "/tmp/runs/") == "x.csv");
  CHECK(relative("x.csv", "/tmp") == "x.csv");
  CHECK(relative({"/a/b/x.csv", "/c/y.csv"}, "/a/d") == Json({"../b/x.csv", "y.csv"}));
  const Json other = {{"model", {{"layers", 1}}}, {"train", {{"init", "/a/b"}, {"epochs", 3}}}};
  const Json kept = with_relative_paths(other, "/a/c");
  CHECK(kept["train"]["init"] == "../b");
  CHECK(kept["train"]["epochs"] == 3);
  CHECK(with_relative_paths(experiment_with("x"), "/a") == experiment_with("x"));
}

TEST_CASE("an input or a target is a path where it is a text, and columns where it is a list") {
  const Json pair = {{"data", {{"task", "audio"}, {"input", "/a/b/dry.wav"}, {"target", "/a/b/wet.wav"}}}};
  const Json moved = with_relative_paths(pair, "/a/run")["data"];
  CHECK(moved["input"] == "../b/dry.wav");
  CHECK(moved["target"] == "../b/wet.wav");
  Json columns = {
      {"data", {{"task", "series"}, {"path", "x.csv"}, {"input", {"v", "/w"}}, {"target", {"v"}}}}};
  CHECK(with_relative_paths(columns, "/a") == columns);
  const Json before = columns["data"]["input"];
  make_paths_absolute(columns, "/a");
  CHECK(columns["data"]["input"] == before);
}

TEST_CASE("paths are found from the folder of the file, else where experiment.json says") {
  const fs::path folder = fs::temp_directory_path() / text_of("lagtape_paths_", getpid());
  fs::create_directories(folder / "run");
  write_file_atomically(folder / "here.csv", "1\n");
  Json experiment = experiment_with({"../here.csv", "gone.csv", "/there.csv"});
  make_paths_absolute(experiment, folder / "run");
  CHECK(experiment["data"]["path"] ==
        Json({(folder / "here.csv").string(), (folder / "run/gone.csv").string(), "/there.csv"}));
  write_file_atomically(folder / "run/experiment.json", experiment_with("/far/gone.csv").dump(2));
  experiment = experiment_with({"../here.csv", "gone.csv"});
  make_paths_absolute(experiment, folder / "run");
  CHECK(experiment["data"]["path"] == Json({(folder / "here.csv").string(), "/far/gone.csv"}));
  write_file_atomically(folder / "run/experiment.json", "no JSON");
  experiment = experiment_with("gone.csv");
  make_paths_absolute(experiment, folder / "run");
  CHECK(experiment["data"]["path"] == (folder / "run/gone.csv").string());
  fs::remove_all(folder);
}

}  // namespace
}  // namespace lagtape
