#include "lagtape/tools/cli/source.h"

#include <filesystem>

namespace lagtape::cli {

bool is_run(const std::string& path) {
  return std::filesystem::is_directory(path) || std::filesystem::path(path).extension() == ".safetensors";
}

Source load_run(const std::string& path, std::span<const std::string> assignments) {
  Model model = Model::load(path);
  return {.experiment = parse_experiment(model.experiment(), path, path, assignments),
          .model = std::move(model)};
}

Source load_source(const std::string& path, std::span<const std::string> assignments, ThreadPool& pool) {
  if (is_run(path)) return load_run(path, assignments);
  Experiment experiment = read_experiment(path, assignments);
  Model model = build_model(experiment, data_shape(experiment, pool));
  return {.experiment = std::move(experiment), .model = std::move(model)};
}

DataShape data_shape(const Experiment& experiment, ThreadPool& pool) {
  return experiment.data_shape ? *experiment.data_shape : experiment.load_task(pool).shape;
}

}  // namespace lagtape::cli
