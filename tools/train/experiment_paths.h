#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/formats/given_files.h"

namespace lagtape {

// Runs are shared with others, so experiment.json and the experiment in a weights file store data paths
// relative to their own folder, never from the root. Only the checkpoint, which belongs to this machine, stores
// absolute paths.

/// The keys of `data` that refer to files or folders. In input and target only a text does, and only in tasks
/// where they do not refer to columns.
inline constexpr std::array kDataPaths = {"path", "vectors", "input", "target"};

/// Whether a key of `data` refers to table columns in that task.
bool names_columns(const Json& task, std::string_view key);

/// Replaces the path in a value of one of these keys, or each path in a list. Data in memory are unchanged.
template <class F>
void for_each_path(Json& value, std::string_view key, F replaced) {
  const auto replace = [&](Json& one) {
    const std::string path = one.get<std::string>();
    if (std::filesystem::path(path).parent_path() != GivenFiles::kFolder) one = replaced(path);
  };
  if (value.is_string()) replace(value);
  if (!value.is_array() || key == "input" || key == "target") return;
  for (Json& path : value)
    if (path.is_string()) replace(path);
}

/// An absolute path as seen from a folder; only its name if they share nothing but the root. Other paths are
/// unchanged.
std::filesystem::path path_from(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Whether a JSON Pointer may be the place of a path: "/data/path/1".
bool names_file(const std::string& pointer);

/// An experiment with the paths of data and of initial weights as seen from a folder. Files that share nothing
/// but the root with the folder keep only their names.
Json with_relative_paths(Json experiment, const std::filesystem::path& folder);

/// Makes the paths of data and of initial weights absolute, starting from an absolute folder. Notes those that
/// JSON cannot hold.
void begin_paths_at(Json& experiment, const std::filesystem::path& base, JsonErrors& errors);

/// A path in an experiment, and its setting: "data.path.1" in a list.
struct NamedPath {
  std::string setting, path;
};

/// The nonempty paths of data and of initial weights.
std::vector<NamedPath> paths_of(Json experiment);

/// Reduces the paths of data and of initial weights to their last components.
void leave_names_of_files(Json& experiment);

/// The opposite of with_relative_paths, for an experiment read from a folder. If a file is found neither this
/// way nor where a link to the folder leads, the path in the folder's experiment.json or checkpoint is used.
void make_paths_absolute(Json& experiment, const std::filesystem::path& folder);

/// Whether a file is the experiment.json of a run.
bool is_experiment_of_run(const std::filesystem::path& file);

/// Makes the paths in an assigned value, which are relative to `base`, absolute. `keys` are those of the
/// value's place, and `experiment` shows whether `input` and `target` refer to columns or files.
void make_assigned_paths_absolute(Json& value, std::span<const std::string> keys, const Json& experiment,
                                  const std::filesystem::path& base);

}  // namespace lagtape
