#include "lagtape/tools/train/assigned_paths.h"

#include <algorithm>
#include <array>

#include "lagtape/cells/models/experiment_paths.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

Json task_of(const Json& experiment) {
  const Json* task = experiment.find_pointer("/data/task");
  return task != nullptr ? *task : Json();
}

/// Whether a place is that of a path, of a list of paths, or of one in such a list.
bool names_files(std::span<const std::string> keys, const Json& experiment) {
  if (keys.size() < 2 || keys.size() > 3) return false;
  const std::string& key = keys[1];
  if (keys[0] == "train") return keys.size() == 2 && key == "init";
  if (keys[0] != "data" || std::ranges::find(kDataPaths, key) == kDataPaths.end()) return false;
  const bool may_name_columns = key == "input" || key == "target";
  return !may_name_columns || (keys.size() == 2 && task_of(experiment) != "series");
}

}  // namespace

void make_assigned_paths_absolute(Json& value, std::span<const std::string> keys, const Json& experiment,
                                  const fs::path& base) {
  if (keys.size() == 1 && value.is_object()) {
    for (const std::string key : {"path", "vectors", "input", "target", "init"})
      if (value.contains(key))
        make_assigned_paths_absolute(value[key], std::array{keys[0], key}, experiment, base);
  } else if (names_files(keys, experiment)) {
    for_each_path(value, keys[1], [&](const std::string& path) {
      return path.empty() ? path : fs::absolute(base / path).lexically_normal().string();
    });
  }
}

}  // namespace lagtape
