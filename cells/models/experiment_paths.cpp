#include "lagtape/cells/models/experiment_paths.h"

#include <algorithm>
#include <iterator>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

/// Replaces every path in an experiment: replaced(path, pointer of its value).
template <class F>
void replace_paths(Json& experiment, F replaced) {
  const auto replace = [&](const char* section, const char* key) {
    const std::string pointer = text_of("/", section, "/", key);
    if (experiment.find_pointer(pointer) == nullptr) return;
    for_each_path(experiment[section][key], key, [&](const std::string& path) {
      return path.empty() ? path : replaced(fs::path(path), pointer).string();
    });
  };
  for (const char* key : kDataPaths) replace("data", key);
  replace("train", "init");
}

/// A folder from the root on.
fs::path whole(const fs::path& folder) {
  const fs::path path = fs::absolute(folder.empty() ? fs::path(".") : folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();  // without a separator at its end
}

/// A path as seen from a folder.
fs::path from_folder(const fs::path& path, const fs::path& folder) {
  if (!path.is_absolute()) return path;
  const fs::path relative = path.lexically_relative(folder);
  const auto ups = std::count(relative.begin(), relative.end(), fs::path(".."));
  const fs::path below_root = folder.relative_path();
  return ups >= std::distance(below_root.begin(), below_root.end()) ? path.filename() : relative;
}

/// The experiment of a run; null when there is none that can be read.
Json experiment_beside(const fs::path& folder) {
  std::error_code error;
  const fs::path file = folder / "experiment.json";
  if (!fs::is_regular_file(file, error)) return {};
  try {
    return parse_json(read_file(file), file.string());
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace

std::string with_relative_paths(const std::string& experiment, const fs::path& folder) {
  Json json = parse_json(experiment, "experiment");
  const fs::path from = whole(folder);
  replace_paths(json, [&](const fs::path& path, const std::string&) { return from_folder(path, from); });
  return json.dump(2);
}

std::vector<std::string> paths_of(Json experiment) {
  std::vector<std::string> paths;
  replace_paths(experiment, [&](const fs::path& path, const std::string&) {
    paths.push_back(path.string());
    return path;
  });
  return paths;
}

void leave_names_of_files(Json& experiment) {
  replace_paths(experiment, [](const fs::path& path, const std::string&) {
    return path.has_filename() ? path.filename() : path.parent_path().filename();
  });
}

void make_paths_absolute(Json& experiment, const fs::path& folder) {
  const fs::path from = whole(folder);
  Json beside;
  replace_paths(experiment, [&](const fs::path& path, const std::string& pointer) {
    std::error_code error;
    fs::path found = (from / path).lexically_normal();
    if (path.is_absolute() || fs::exists(found, error)) return found;
    if (beside.is_null()) beside = experiment_beside(folder);
    const Json* named = beside.find_pointer(pointer);
    if (named == nullptr) return found;
    Json others = *named;
    for_each_path(others, pointer.substr(pointer.rfind('/') + 1), [&](const std::string& other) {
      if (fs::path(other).filename() == path.filename()) found = other;
      return other;
    });
    return found;
  });
}

}  // namespace lagtape
