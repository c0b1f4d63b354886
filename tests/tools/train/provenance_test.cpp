#include "lagtape/tools/train/provenance.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "lagtape/cells/tau_gru.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/source.h"

namespace lagtape {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / text_of("lagtape_provenance_", getpid());
  Folder() { fs::create_directories(path / "other"); }
  ~Folder() { fs::remove_all(path); }
};

constexpr const char* kRecording = R"({
  "name": "load",
  "data": { "task": "series", "path": "data/load.csv", "input": ["load"], "target": ["load"], "window": 8 },
  "model": { "layers": [ { "cell": "tau_gru", "units": 3, "tau": 2 } ] } })";

Model of_recording(const fs::path& folder) {
  const Experiment experiment = parse_experiment(kRecording, "test", folder);
  return build_model(experiment, *experiment.data.shape);
}

Json path_of(const Model& model) { return data_of(model).at("path"); }

TEST_CASE("the data of a model are found from wherever it is saved and by whatever it is loaded") {
  const Folder folder;
  const std::string data = (folder.path / "data/load.csv").string();
  const Model model = of_recording(folder.path);
  CHECK(path_of(model) == data);
  model.save(folder.path / "one.safetensors");
  const Model runtime = Model::load(folder.path / "one.safetensors");
  CHECK(Json::parse(runtime.experiment())["data"]["path"] == "data/load.csv");
  CHECK(path_of(runtime) == data);
  const Model loaded = load_model((folder.path / "one.safetensors").string());
  CHECK(loaded.experiment() == model.experiment());
  loaded.save(folder.path / "other/two.safetensors");
  const Model moved = Model::load(folder.path / "other/two.safetensors");
  CHECK(Json::parse(moved.experiment())["data"]["path"] == "../data/load.csv");
  CHECK(path_of(moved) == data);
}

TEST_CASE("a model that is saved again where it was is the same file") {
  const Folder folder;
  const fs::path file = folder.path / "one.safetensors", again = folder.path / "again.safetensors";
  of_recording(folder.path).save(file);
  Model::load(file).save(again);
  CHECK(read_file(again) == read_file(file));
  load_model(file.string()).save(again);
  CHECK(read_file(again) == read_file(file));
}

TEST_CASE("a model that was made in C++ has its definition for an experiment, and no data") {
  const Model model({.layers = {TauGru{.units = 3, .tau = {2}}}, .readout = {.units = 1}}, {.input = 1});
  const Json document = document_of(model);
  CHECK(document["model"]["layers"][0]["units"] == 3);
  CHECK(document["train"]["precision"] == "f32");
  CHECK(data_of(model).is_null());
}

}  // namespace
}  // namespace lagtape
