#include <cmath>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/sweep/table/outcome.h"

namespace lagtape::table {

namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json json_of(const Run& run, double scale) {
  Json json = {{"seed", run.seed},
               {"state", sweep::name_of(run.state)},
               {"value", number(run.value * scale)},
               {"seconds", run.seconds},
               {"folder", run.folder.string()}};
  if (!run.message.empty()) json["message"] = run.message;
  return json;
}

Json json_of(const Row& row, const Outcome& outcome, double scale) {
  Json runs = Json::array();
  for (const Run* run : outcome.runs) runs.push_back(json_of(*run, scale));
  return {{"name", row.name},
          {"model", row.model.empty() ? Json(nullptr) : Json(row.model)},
          {"printed", number(row.printed)},
          {"printed_deviation", number(row.printed_deviation)},
          {"printed_parameters", row.printed_parameters > 0 ? Json(row.printed_parameters) : Json(nullptr)},
          {"mean", number(outcome.mean)},
          {"deviation", number(outcome.deviation)},
          {"best", number(outcome.best)},
          {"params", outcome.params > 0 ? Json(outcome.params) : Json(nullptr)},
          {"parameter_difference", parameter_difference(row, outcome)},
          {"seconds", outcome.values.empty() ? Json(nullptr) : Json(outcome.seconds)},
          {"note", row.note},
          {"runs", runs}};
}

}  // namespace

std::string json(const PaperTable& table, const std::vector<Run>& runs) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    rows.push_back(json_of(table.rows[i], outcome_of(table, i, runs), table.scale));
  const Json document = {{"task", table.task()},
                         {"title", table.title},
                         {"source", table.source},
                         {"metric", table.metric},
                         {"unit", table.unit},
                         {"scale", table.scale},
                         {"larger_is_better", table.larger_is_better},
                         {"rows", rows}};
  return document.dump(2);
}

}  // namespace lagtape::table
