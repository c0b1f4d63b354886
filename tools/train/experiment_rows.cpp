#include "lagtape/tools/train/experiment_rows.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/io/folder.h"
#include "lagtape/core/io/json_file.h"
#include "lagtape/core/json/json_comments.h"
#include "lagtape/core/quote.h"

namespace lagtape {

namespace fs = std::filesystem;

namespace {

bool has_rows(const Json& document) { return document.contains("rows"); }

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

/// Reports every error of a file with rows that no row decides.
void check_file(const Json& document, const fs::path& file) {
  JsonErrors errors;
  JsonReader reader(document, "", errors);
  const Json& base = reader.raw("base", "what the rows change");
  if (reader.has("base") && !base.is_object() && !base.is_string())
    reader.error("base", "expected an experiment, or the name of an experiment file in the same folder.");
  if (base.is_string() &&
      (base.get<std::string>().empty() || fs::path(base.get<std::string>()).has_parent_path()))
    reader.error("base", text_of("expected the name of a file in the same folder. Got ",
                                 quote(base.get<std::string>(), 200), "."));
  const Json& rows = reader.raw("rows", "what differs from the base, by name");
  if (!rows.is_object() || rows.empty()) {
    reader.error("rows", R"(expected objects by their names: {"lem": {"name": "enso-lem", ...}, ...}.)");
  } else {
    for (const auto& [name, row] : rows.items())
      if (!row.is_object())
        errors.add("/rows/" + name, "expected an object with what differs from the base.");
  }
  reader.finish();
  errors.raise(file.string());
}

/// Gives the place of an experiment that has no file, only a row with its name.
void refuse_row_as_file(const fs::path& file) {
  const fs::path rows = file.parent_path() / kRowsFile;
  std::error_code error;
  if (fs::exists(file, error) || !fs::exists(rows, error)) return;
  const std::string name = file.stem().string();
  if (read_commented_json(rows).value("rows", Json::object()).contains(name))
    throw InputError(
        {file.string()}, Rule::missing,
        text_of("there is no such file. It is a row: give ", rows.string(), " --row ", name, "."));
}

Json base_of(const Json& document, const fs::path& file) {
  const Json base = document.value("base", Json::object());
  if (!base.is_string()) return base;
  const fs::path beside = file.parent_path() / base.get<std::string>();
  Json experiment = read_commented_json(beside);
  if (has_rows(experiment) || !experiment.is_object())
    throw InputError({.file = file.string(), .pointer = "/base"}, Rule::wrong_type,
                     text_of(beside.string(), " is not one experiment."));
  return experiment;
}

}  // namespace

std::string ExperimentPlace::text() const {
  return row.empty() ? file.string() : text_of(file.string(), ", row ", row);
}

std::vector<std::string> ExperimentPlace::arguments() const {
  if (row.empty()) return {file.string()};
  return {file.string(), "--row", row};
}

void merge_patch(Json& target, const Json& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = Json::object();
  for (const auto& [key, value] : patch.items()) {
    if (value.is_null()) {
      target.erase(key);
    } else {
      merge_patch(target[key], value);
    }
  }
}

Json read_experiment_document(const ExperimentPlace& place) {
  refuse_row_as_file(place.file);
  Json document = read_commented_json(place.file);
  if (!has_rows(document)) {
    if (place.row.empty()) return document;
    throw InputError(
        {place.file.string()}, Rule::missing,
        text_of("is one experiment, without rows: expected no --row ", quote(place.row, 100), "."));
  }
  check_file(document, place.file);
  const std::vector<std::string> names = keys_of(document["rows"]);
  if (place.row.empty())
    throw InputError({place.file.string()}, Rule::missing,
                     text_of("has several experiments. Choose one with --row: ", listed(names), "."));
  if (!document["rows"].contains(place.row))
    throw InputError(
        unknown_name("row", place.row, names).within({.file = place.file.string(), .item = "--row"}));
  Json experiment = base_of(document, place.file);
  merge_patch(experiment, document["rows"][place.row]);
  return experiment;
}

std::vector<std::string> experiments_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::path file : entries_of(folder, error))
    if (file.extension() == ".json" && file != "table.json" && file != kRowsFile)
      names.push_back(file.stem().string());
  if (error)
    throw InputError({folder.string()}, Rule::cannot_read, text_of("cannot read: ", error.message(), "."));
  if (fs::exists(folder / kRowsFile)) {
    const Json document = read_commented_json(folder / kRowsFile);
    check_file(document, folder / kRowsFile);
    for (const std::string& name : keys_of(document["rows"])) names.push_back(name);
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

ExperimentPlace experiment_in(const fs::path& folder, const std::string& name) {
  fs::path file = folder / (name + ".json");
  if (fs::exists(file) || !fs::exists(folder / kRowsFile)) return {.file = std::move(file)};
  return {.file = folder / kRowsFile, .row = name};
}

}  // namespace lagtape
