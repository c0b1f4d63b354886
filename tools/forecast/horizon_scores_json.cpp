#include <iterator>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/forecast/horizon_scores.h"

namespace lagtape {

namespace {

Json column_of(const Tensor& values, std::size_t target) {
  Json column = Json::array();
  for (std::int64_t step = 0; step < values.size(0); ++step)
    column.push_back(values.at(step * values.size(1) + static_cast<std::int64_t>(target)));
  return column;
}

/// The errors by target, step and forecast.
Json json_of(const std::vector<std::string>& names, const std::vector<HorizonErrors>& all) {
  Json targets = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Json& target = targets[names[i]];
    for (const HorizonErrors& errors : all) {
      const std::string of = errors.key == "model" ? "" : errors.key + "_";
      target[of + "rmse"] = column_of(errors.rmse, i);
      target[of + "mae"] = column_of(errors.mae, i);
      for (std::size_t m = 0; m < std::size(kHorizonMetrics); ++m)
        target["overall"][errors.key][kHorizonMetrics[m]] = errors.overall[i][m];
    }
  }
  return targets;
}

Json json_of(const ForecastShape& shape) {
  Json json = {{"valid_time",
                {{"error", kValidError},
                 {"mean", shape.valid_mean},
                 {"median", shape.valid_median},
                 {"throughout", shape.valid_throughout}}}};
  if (!shape.spectrum.empty()) {
    Json& frequencies = json["spectrum"]["frequency"] = Json::array();
    for (std::size_t k = 0; k < shape.spectrum.size(); ++k)
      frequencies.push_back(static_cast<double>(k) / static_cast<double>(shape.piece));
    json["spectrum"].update(Json{
        {"model", shape.spectrum}, {"truth", shape.true_spectrum}, {"distance", shape.spectrum_distance}});
  }
  if (!shape.edges.empty())
    json["histogram"] = {{"edges", shape.edges},
                         {"model", shape.histogram},
                         {"truth", shape.true_histogram},
                         {"distance", shape.histogram_distance}};
  return json;
}

}  // namespace

Json json_of(const HorizonScores& scores) {
  Json targets = json_of(scores.targets, scores.errors);
  for (std::size_t i = 0; i < scores.targets.size(); ++i) {
    Json& target = targets[scores.targets[i]];
    for (const IntervalScores& interval : scores.intervals)
      target[interval.calibrations > 0 ? "interval" : "quantile_interval"] = {
          {"level", interval.level},
          {"calibrations", interval.calibrations},
          {"coverage", interval.overall[i]},
          {"width", interval.width[i]},
          {"coverage_by_step", column_of(interval.coverage, i)}};
    target.update(json_of(scores.shapes[i]));
    if (!scores.pinball.empty()) {
      target["overall"]["model"]["pinball"] = scores.pinball[i];
      target["overall"]["model"]["crps"] = 2 * scores.pinball[i];
    }
  }
  const HorizonVerdict& verdict = scores.verdict;
  Json json = {{"origins", scores.origins},
               {"season", scores.season},
               {"targets", std::move(targets)},
               {"measure", kHorizonMetrics[verdict.measure]},
               {"best_baseline", scores.errors[verdict.best].key},
               {"ratio", verdict.ratio}};
  for (const HorizonOfSeries& series : scores.series)
    json["series"][series.name] = {{"origins", series.origins},
                                   {"targets", json_of(scores.targets, series.errors)}};
  return json;
}

}  // namespace lagtape
