#include "lagtape/tools/sweep/table/paper_table.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "lagtape/core/io/folder.h"
#include "lagtape/core/io/json_file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/train/score/metrics.h"

namespace lagtape::table {

namespace fs = std::filesystem;

namespace {

/// Says that a folder has no table, with the nearest beside it that has one.
[[noreturn]] void refuse_folder(const fs::path& folder) {
  const fs::path given = (folder / "").lexically_normal().parent_path();
  const fs::path beside = given.has_parent_path() ? given.parent_path() : fs::path(".");
  std::vector<std::string> known;
  std::error_code error;
  for (const std::string& name : entries_of(beside, error))
    if (fs::exists(beside / name / "table.json", error)) known.push_back(name);
  const std::string nearest = nearest_name(given.filename().string(), known);
  throw InputError(
      {folder.string()}, Rule::wrong_type,
      text_of(
          "expected a folder with experiments and a table.json",
          nearest.empty() ? "." : text_of("; did you mean ", (given.parent_path() / nearest).string(), "?")));
}

/// Charts are files with the names of settings.
bool is_name_of_file(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("_-. ").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kLongest && name.front() != '.' &&
         std::ranges::all_of(name, allowed);
}

void read_settings(JsonReader& reader, Row& row) {
  const Json& at =
      reader.raw("at", "settings on the axes of charts: numbers, and words that distinguish rows");
  if (!reader.has("at")) return;
  if (!at.is_object() || at.empty()) {
    reader.error("at", "expected an object of settings, such as {\"dt\": 0.1, \"form\": \"code\"}.");
    return;
  }
  for (const auto& [name, value] : at.items()) {
    if (!is_name_of_file(name)) {
      reader.error("at",
                   text_of("a setting's name is the name of a chart's file: letters, digits, '_', '-', '.' "
                           "and blanks, at most 100. Got ",
                           quote(name), "."));
    } else if (value.is_number() || value.is_string()) {
      row.at.emplace_back(name, value);
    } else {
      reader.error("at", text_of("expected a number or a word for ", name, ". Got ", value.dump(), "."));
    }
  }
}

/// A row's settings such that equal ones are equal: numbers, or words behind a mark.
using Settings = std::map<std::string, std::pair<double, std::string>>;

Settings settings_of(const Row& row) {
  Settings settings;
  for (const auto& [name, value] : row.at)
    settings[name] = value.is_number() ? std::pair(value.get<double>(), std::string())
                                       : std::pair(0.0, text_of("=", value.get<std::string>()));
  return settings;
}

/// The names and settings that a row is compared with.
struct KnownRows {
  std::vector<std::string> files;            ///< the experiments beside the table, sorted
  std::set<std::string> models;              ///< the models of the rows so far
  std::map<Settings, std::string> settings;  ///< the rows so far as messages call them, by their settings
};

void read_row(JsonReader& reader, std::size_t number, KnownRows& known, PaperTable& table) {
  Row row;
  reader.required("name", row.name, "the model's name for readers");
  reader.optional("model", row.model, "MODEL.json beside the table, or a row of rows.json there");
  reader.optional("printed", row.printed, {}, "the paper's number");
  reader.optional("printed_deviation", row.printed_deviation, at_least(0), "its standard deviation");
  reader.optional("printed_parameters", row.printed_parameters, at_least(1),
                  "the paper's number of parameters: 1200 for 1.2k");
  reader.optional("source", row.source, "its source, if the rest of the table has another");
  reader.optional("changed", row.changed, "how the experiment differs from the paper's");
  reader.optional("note", row.note, "a remark for readers");
  read_settings(reader, row);
  reader.finish();
  if (!reader.is_object()) return;
  if (row.model.empty() && !reader.has("printed"))
    reader.error("", "expected a model, a printed number, or both.");
  if (!row.model.empty()) {
    if (!std::ranges::binary_search(known.files, row.model))
      reader.error("model", reader.errors().is_full() ? Problem()
                                                      : unknown_name("experiment", row.model, known.files));
    if (!known.models.insert(row.model).second)
      reader.error("model", text_of("the model ", row.model, " occurs in another row already."));
  }
  const std::string called =
      text_of("row ", number, row.name.empty() ? "" : text_of(" (", quote(row.name), ")"));
  const auto [same, is_new] = known.settings.emplace(settings_of(row), called);
  const bool drawn = std::ranges::any_of(row.at, [](const auto& one) { return one.second.is_number(); });
  if (drawn && !is_new)
    reader.error("at", text_of(same->second, " has the same settings, and charts would show one of them."));
  table.rows.push_back(std::move(row));
}

void read_metric(JsonReader& reader, PaperTable& table) {
  reader.required("metric", table.metric, "metric of the test set that is compared");
  if (const std::optional<Metric> known = find_metric(table.metric)) {
    table.larger_is_better = known->larger_is_better;
  } else if (reader.has("metric")) {
    reader.error("metric", unknown_name("metric", table.metric, metric_names()));
  }
}

void read_rows(JsonReader& reader, PaperTable& table) {
  const Json& rows = reader.raw("rows", "a row for each model");
  if (!rows.is_array() || rows.empty()) {
    reader.error("rows", "expected a list of rows.");
    return;
  }
  KnownRows known;
  known.files = experiments_in(table.folder);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    JsonReader row(rows[i], text_of("/rows/", i), reader.errors());
    read_row(row, i, known, table);
  }
}

}  // namespace

PaperTable read_paper_table(const fs::path& folder) {
  constexpr double kMostDigits = 9, kMostSeeds = 1000;
  const fs::path file = folder / "table.json";
  if (!fs::exists(file)) refuse_folder(folder);
  const Json document = read_json(file);
  JsonErrors errors;
  JsonReader reader(document, "", errors);
  PaperTable table;
  table.split = "test";
  table.folder = fs::absolute(folder / "").lexically_normal().parent_path();
  reader.required("title", table.title, "title of the table");
  reader.required("source", table.source, "where the numbers are printed");
  read_metric(reader, table);
  reader.required("unit", table.unit, "name of the numbers");
  reader.optional("scale", table.scale, above(0), "the table shows metric * scale");
  reader.optional("digits", table.digits, between(0, kMostDigits), "number of decimals shown");
  reader.optional("seeds", table.seeds, between(1, kMostSeeds), "number of runs of each model");
  read_rows(reader, table);
  reader.finish();
  errors.raise(file.string());
  return table;
}

std::vector<std::size_t> chosen_rows(const PaperTable& table, const std::vector<std::string>& only) {
  std::vector<std::string> known;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string& model = table.rows[i].model;
    if (model.empty()) continue;
    known.push_back(model);
    if (only.empty() || std::ranges::find(only, model) != only.end()) chosen.push_back(i);
  }
  for (const std::string& name : only)
    if (std::ranges::find(known, name) == known.end())
      throw InputError(unknown_name("model", name, known).within({.item = "--only"}));
  return chosen;
}

}  // namespace lagtape::table
