#include "lagtape/tools/train/experiment_paths.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/io/json_file.h"
#include "lagtape/core/io/safetensors.h"
#include "lagtape/core/json/json_pointer.h"
#include "lagtape/core/quote.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

/// Replaces every path in an experiment: replaced(path, pointer of the key's value, setting).
template <class F>
void replace_paths(Json& experiment, F replaced) {
  const auto replace = [&](const char* section, const char* key) {
    const std::string pointer = text_of("/", section, "/", key);
    Json* value = experiment.find_pointer(pointer);
    if (value == nullptr) return;
    std::size_t number = 0;
    for_each_path(*value, key, [&](const std::string& path) {
      std::string setting = text_of(section, ".", key);
      if (value->is_array()) setting += text_of(".", number++);
      return path.empty() ? path : replaced(fs::path(path), pointer, setting).string();
    });
  };
  for (const char* key : kDataPaths)
    if (!names_columns(value_at(experiment, "/data/task"), key)) replace("data", key);
  replace("train", "init");
}

/// A folder from the root on.
fs::path whole(const fs::path& folder) {
  const fs::path path = fs::absolute(folder.empty() ? fs::path(".") : folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();  // without a separator at its end
}

/// The readable content of a file; nothing where it is missing or damaged.
template <class F>
auto read_if_there(const fs::path& file, F read) -> decltype(read(file)) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  try {
    return read(file);
  } catch (const InputError&) {
    return {};
  }
}

/// The experiments beside one that is read from a folder, the nearest first: of a run, and of its checkpoint.
std::vector<Json> experiments_beside(const fs::path& folder) {
  return {read_if_there(folder / "experiment.json", [](const fs::path& file) { return read_json(file); }),
          read_if_there(folder / "checkpoint" / "state.safetensors", [](const fs::path& file) {
            return parse_json(read_safetensors(file).metadata["experiment"], file.string());
          })};
}

/// The absolute path of a file of that name in the same place of another experiment; empty where there is none.
fs::path named_elsewhere(const Json& other, const std::string& pointer, const fs::path& path) {
  const Json* named = other.find_pointer(pointer);
  if (named == nullptr) return {};
  fs::path found;
  Json values = *named;
  for_each_path(values, pointer.substr(pointer.rfind('/') + 1), [&](const std::string& each) {
    if (fs::path(each).is_absolute() && fs::path(each).filename() == path.filename()) found = each;
    return each;
  });
  return found;
}

/// Whether a place is that of a path, of a list of paths, or of one in such a list.
bool names_files(std::span<const std::string> keys, const Json& experiment) {
  if (keys.size() < 2 || keys.size() > 3) return false;
  const std::string& key = keys[1];
  if (keys[0] == "train") return keys.size() == 2 && key == "init";
  if (keys[0] != "data" || std::ranges::find(kDataPaths, key) == kDataPaths.end()) return false;
  const bool may_name_columns = key == "input" || key == "target";
  return !may_name_columns || (keys.size() == 2 && !names_columns(value_at(experiment, "/data/task"), key));
}

}  // namespace

bool names_columns(const Json& task, std::string_view key) {
  return (key == "input" || key == "target") && (task == "series" || task == "sequences");
}

void begin_paths_at(Json& experiment, const fs::path& base, JsonErrors& errors) {
  replace_paths(experiment, [&](const fs::path& path, const std::string& pointer, auto&) {
    const fs::path whole = (base / path).lexically_normal();
    if (is_utf8(whole.string())) return whole;
    errors.add(pointer,
               text_of("a path that is not UTF-8, which JSON cannot hold: ", quote(whole.string(), 200)));
    return fs::path();
  });
}

fs::path path_from(const fs::path& path, const fs::path& folder) {
  if (!path.is_absolute()) return path;
  const fs::path from = whole(folder), relative = path.lexically_relative(from),
                 below_root = from.relative_path();
  const auto ups = std::count(relative.begin(), relative.end(), fs::path(".."));
  return ups >= std::distance(below_root.begin(), below_root.end()) ? path.filename() : relative;
}

bool names_file(const std::string& pointer) {
  return pointer == "/train/init" || std::ranges::any_of(kDataPaths, [&](std::string_view key) {
           return (pointer + "/").starts_with(text_of("/data/", key, "/"));
         });
}

Json with_relative_paths(Json experiment, const fs::path& folder) {
  replace_paths(experiment, [&](const fs::path& path, auto&...) { return path_from(path, folder); });
  return experiment;
}

std::vector<NamedPath> paths_of(Json experiment) {
  std::vector<NamedPath> paths;
  replace_paths(experiment, [&](const fs::path& path, const std::string&, const std::string& setting) {
    paths.push_back({setting, path.string()});
    return path;
  });
  return paths;
}

void leave_names_of_files(Json& experiment) {
  replace_paths(experiment, [](const fs::path& path, auto&...) {
    return path.has_filename() ? path.filename() : path.parent_path().filename();
  });
}

void make_paths_absolute(Json& experiment, const fs::path& folder) {
  const fs::path from = whole(folder);
  std::optional<std::vector<Json>> beside;
  replace_paths(experiment, [&](const fs::path& path, const std::string& pointer, auto&) {
    std::error_code error;
    const fs::path found = (from / path).lexically_normal();
    if (path.is_absolute() || fs::exists(found, error)) return found;
    // The folder may be a link, such as the best run of a search.
    const fs::path linked = (fs::weakly_canonical(from, error) / path).lexically_normal();
    if (fs::exists(linked, error)) return linked;
    if (!beside) beside = experiments_beside(from);
    for (const Json& other : *beside)
      if (fs::path named = named_elsewhere(other, pointer, path); !named.empty()) return named;
    return found;
  });
}

bool is_experiment_of_run(const fs::path& file) {
  const fs::path folder = file.parent_path();
  std::error_code error;
  return file.filename() == "experiment.json" &&
         (fs::exists(folder / "weights.safetensors", error) ||
          fs::exists(folder / "checkpoint" / "state.safetensors", error));
}

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
