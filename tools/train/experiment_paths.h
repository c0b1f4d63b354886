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

// A run is given to others, so experiment.json and the experiment in a weights file name data relative to their own
// folder, never from the root. The checkpoint alone, which belongs to this machine, has absolute paths.

/// The keys of `data` that name files or folders. In input and target only a text does, and only in tasks where they do not
/// name columns.
inline constexpr std::array kDataPaths = {"path", "vectors", "input", "target"};

/// Whether a key of `data` names columns of a table in that task.
bool names_columns(const Json& task, std::string_view key);

/// Replaces the path in a value of one of these keys, or each of a list of paths. Data in memory are nowhere else.
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

/// An absolute path as seen from a folder; its name alone where they share nothing but the root. Other paths stay.
std::filesystem::path path_from(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Whether a JSON Pointer may be the place of a path: "/data/path/1".
bool names_file(const std::string& pointer);

/// An experiment with the paths of data and of first weights as seen from a folder. Files that share nothing but the
/// root with the folder keep their names alone.
Json with_relative_paths(Json experiment, const std::filesystem::path& folder);

/// Makes the paths of data and of first weights absolute, from an absolute folder. Notes those that JSON cannot
/// hold.
void begin_paths_at(Json& experiment, const std::filesystem::path& base, JsonErrors& errors);

/// A path in an experiment, and its setting: "data.path.1" in a list.
struct NamedPath {
  std::string setting, path;
};

/// The paths of data and of first weights that are not empty.
std::vector<NamedPath> paths_of(Json experiment);

/// Reduces the paths of data and of first weights to their last names.
void leave_names_of_files(Json& experiment);

/// The opposite of with_relative_paths, for an experiment that is read from a folder. A file that is not found this
/// way, nor where a link to the folder leads, is the one that the folder's experiment.json or checkpoint names.
void make_paths_absolute(Json& experiment, const std::filesystem::path& folder);

/// Whether a file is the experiment.json of a run.
bool is_experiment_of_run(const std::filesystem::path& file);

/// Makes the paths in an assigned value absolute, which begin at `base`. `keys` are those of the value's place, and
/// `experiment` says whether `input` and `target` name columns or files.
void make_assigned_paths_absolute(Json& value, std::span<const std::string> keys, const Json& experiment,
                                  const std::filesystem::path& base);

}  // namespace lagtape
