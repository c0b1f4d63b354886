#include "lagtape/tools/table/plan.h"

#include <algorithm>

#include "lagtape/core/io/file.h"
#include "lagtape/core/json_reader.h"
#include "lagtape/tools/metrics.h"

namespace lagtape::table {

namespace fs = std::filesystem;

namespace {

/// The experiments of a folder, without ".json".
std::vector<std::string> models_in(const fs::path& folder) {
  std::vector<std::string> models;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const fs::path& file = entry.path();
    if (file.extension() == ".json" && file.filename() != "table.json")
      models.push_back(file.stem().string());
  }
  std::sort(models.begin(), models.end());
  return models;
}

void read_row(JsonReader& reader, const std::vector<std::string>& models, Plan& plan) {
  Row row;
  reader.required("name", row.name, "the model's name for readers");
  reader.optional("model", row.model, "MODEL.json beside the table");
  if (reader.has("printed")) reader.required("printed", row.printed, {}, "the paper's number");
  if (reader.has("printed_deviation")) {
    reader.required("printed_deviation", row.printed_deviation, at_least(0), "its standard deviation");
  }
  reader.optional("source", row.source, "where it is printed, if not where the others are");
  reader.optional("note", row.note, "what a reader should know of the row");
  reader.finish();
  if (!reader.is_object()) return;
  if (row.model.empty() && !reader.has("printed"))
    reader.error("", "a row has a model, a printed number, or both.");
  if (!row.model.empty() && std::find(models.begin(), models.end(), row.model) == models.end())
    reader.error("model", unknown_name("experiment", row.model, models));
  const auto same = [&](const Row& other) { return !row.model.empty() && other.model == row.model; };
  if (std::any_of(plan.rows.begin(), plan.rows.end(), same))
    reader.error("model", concat("the model ", row.model, " has a row already."));
  plan.rows.push_back(std::move(row));
}

void read_metric(JsonReader& reader, Plan& plan) {
  const std::vector<std::string> known = metric_names();
  reader.required_choice("metric", plan.metric, known, "what is compared, of the test set");
  if (std::find(known.begin(), known.end(), plan.metric) != known.end())
    plan.larger_is_better = metric(plan.metric).larger_is_better;
}

void read_rows(JsonReader& reader, Plan& plan) {
  const Json& rows = reader.raw("rows", "one a model", "list", "");
  if (!rows.is_array() || rows.empty()) {
    reader.error("rows", "expected a list of rows.");
    return;
  }
  const std::vector<std::string> models = models_in(plan.folder);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    JsonReader row(rows[i], concat("/rows/", i), reader.errors());
    read_row(row, models, plan);
  }
}

}  // namespace

Plan read_plan(const fs::path& folder) {
  constexpr double kMostDigits = 9, kMostSeeds = 1000;
  const fs::path file = folder / "table.json";
  const Json document = parse_json(read_file(file), file.string());
  JsonErrors errors;
  JsonReader reader(document, "", errors);
  Plan plan;
  plan.folder = fs::absolute(folder / "").lexically_normal().parent_path();
  reader.raw("$schema", "of an editor; not used");
  reader.required("title", plan.title, "what is learnt");
  reader.required("source", plan.source, "where the numbers are printed");
  read_metric(reader, plan);
  reader.required("unit", plan.unit, "what the numbers are called");
  reader.optional("scale", plan.scale, above(0), "numbers are metric * scale");
  reader.optional("digits", plan.digits, between(0, kMostDigits), "decimals that are shown");
  reader.optional("seeds", plan.seeds, between(1, kMostSeeds), "runs of a model");
  read_rows(reader, plan);
  reader.finish();
  errors.raise(file.string());
  return plan;
}

std::vector<std::size_t> chosen_rows(const Plan& plan, const std::vector<std::string>& only) {
  std::vector<std::string> known;
  for (const Row& row : plan.rows) {
    if (!row.model.empty()) known.push_back(row.model);
  }
  for (const std::string& name : only) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(concat("--only: ", unknown_name("model", name, known)));
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    const std::string& model = plan.rows[i].model;
    const bool wanted = only.empty() || std::find(only.begin(), only.end(), model) != only.end();
    if (!model.empty() && wanted) chosen.push_back(i);
  }
  return chosen;
}

}  // namespace lagtape::table
