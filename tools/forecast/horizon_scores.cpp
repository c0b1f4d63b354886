#include "lagtape/tools/forecast/horizon_scores.h"

#include <cmath>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/data/series/naive_errors.h"
#include "lagtape/tools/forecast/baseline_forecasts.h"
#include "lagtape/tools/forecast/predicted_targets.h"
#include "lagtape/tools/forecast/rolling_origins.h"
#include "lagtape/tools/train/score/metrics.h"

namespace lagtape {

namespace {

/// Adds up the errors of one way to forecast.
class ErrorSums {
 public:
  ErrorSums(std::string key, std::string name, std::int64_t steps, std::int64_t width)
      : key_(std::move(key)), name_(std::move(name)), steps_(steps), width_(width) {
    const auto places = static_cast<std::size_t>(steps * width);
    squared_.assign(places, metric("rmse").accumulator);
    absolute_.assign(places, metric("mae").accumulator);
    for (const char* name_of_metric : kHorizonMetrics)
      overall_.emplace_back(static_cast<std::size_t>(width), metric(name_of_metric).accumulator);
  }

  /// The prediction at a place of [steps, targets], the truth, and the naive errors of its series.
  void add(std::int64_t place, double prediction, double truth, const NaiveErrors& naive) {
    const ScoredElement element{
        .error = prediction - truth, .target = truth, .naive = naive.absolute, .naive_square = naive.squared};
    const auto target = static_cast<std::size_t>(place % width_);
    for (Accumulator* sums :
         {&squared_[static_cast<std::size_t>(place)], &absolute_[static_cast<std::size_t>(place)]}) {
      sums->add(element);
      sums->end_sequence();
    }
    for (std::vector<Accumulator>& of_targets : overall_) {
      of_targets[target].add(element);
      of_targets[target].end_sequence();
    }
  }

  HorizonErrors errors() const {
    const auto values = [&](const std::vector<Accumulator>& sums) {
      Tensor tensor({steps_, width_}, Dtype::f64);
      for (std::int64_t i = 0; i < tensor.numel(); ++i)
        tensor.set(i, sums[static_cast<std::size_t>(i)].value());
      return tensor;
    };
    HorizonErrors errors{key_, name_, values(squared_), values(absolute_),
                         std::vector<std::vector<double>>(static_cast<std::size_t>(width_))};
    for (const std::vector<Accumulator>& of_targets : overall_)
      for (std::size_t i = 0; i < of_targets.size(); ++i) errors.overall[i].push_back(of_targets[i].value());
    return errors;
  }

 private:
  std::string key_, name_;
  std::int64_t steps_, width_;
  std::vector<Accumulator> squared_, absolute_;    // [steps, targets]
  std::vector<std::vector<Accumulator>> overall_;  // by metric and target
};

/// The geometric mean over targets of a model's errors in relation to those of a baseline.
double ratio_of(const HorizonErrors& model, const HorizonErrors& baseline, std::size_t measure) {
  double sum = 0;
  for (std::size_t i = 0; i < model.overall.size(); ++i)
    sum += std::log(model.overall[i][measure] / baseline.overall[i][measure]);
  return std::exp(sum / static_cast<double>(model.overall.size()));
}

HorizonVerdict verdict_of(const std::vector<HorizonErrors>& errors, const Model& model) {
  HorizonVerdict verdict;
  // The best forecast of an absolute error is the median, of a squared one the mean.
  verdict.measure = model.loss() == Loss::quantile ? 1 : 0;
  for (std::size_t i = 1; i < errors.size(); ++i) {
    const double ratio = ratio_of(errors.front(), errors[i], verdict.measure);
    if (verdict.best > 0 && (std::isnan(ratio) || ratio <= verdict.ratio)) continue;
    verdict.best = i;
    verdict.ratio = ratio;
  }
  return verdict;
}

/// Where forecasts begin. Without a given season, one that is longer than what is there is none.
struct Origins {
  std::vector<ForecastStart> starts;
  std::int64_t season, before;
};

Origins origins_of(const Model& model, const SeriesOptions& series, const Panel& panel,
                   const HorizonOptions& options, std::int64_t steps) {
  const std::vector<RowRange> parts = rows_of_split(options.split, series, panel);
  std::int64_t season = season_of(panel.axis, options.season), before = 0;
  while (true) {
    before = rows_before(model, series, panel, season);
    std::vector<ForecastStart> starts = rolling_origins(panel, parts, before, steps);
    if (!starts.empty()) return {std::move(starts), season, before};
    if (options.season > 0 || season == 0) break;
    season = 0;
  }
  throw InputError({series.where()}, Rule::missing,
                   text_of("no row of ", options.split, " has ", before, " rows before it and ", steps,
                           " from it on without a gap."));
}

}  // namespace

HorizonScores score_horizons(const Model& model, const HorizonOptions& options) {
  SeriesOptions series = series_options_of(model);
  if (!options.path.empty()) series.paths = {options.path};
  if (!options.frequency.empty()) series.frequency = options.frequency;
  const Panel panel = panel_for(model, series);
  const std::int64_t steps = options.steps.in_steps(panel);
  if (steps < 1)
    throw unexpected({.op = "forecast"}, Rule::out_of_range, "a horizon of at least 1", text_of(steps));
  const auto [starts, season, before] = origins_of(model, series, panel, options, steps);

  const std::int64_t width = std::ssize(panel.target), count = steps * width;
  HorizonScores scores;
  scores.origins = std::ssize(starts);
  scores.season = season;
  scores.read_later = read_later(panel, series, steps);
  for (const std::int64_t column : panel.target) scores.targets.push_back(panel.column(column).name);
  const std::vector<BaselineForecast> baselines = baseline_forecasts(
      panel, series,
      {.steps = steps, .season = season, .before = before, .has_training = options.split != "all"});
  std::vector<ErrorSums> sums = {{"model", "model", steps, width}};
  for (const BaselineForecast& baseline : baselines)
    sums.emplace_back(baseline.key, baseline.name, steps, width);
  const std::int64_t each = model.loss().outputs_of_target(), middle = model.loss().middle();
  const std::vector<NaiveErrors> naive = naive_errors(panel, split_panel(series, panel).front().segments);
  for (const ForecastStart& start : starts) {
    const std::int64_t of = panel.series_of(start.first);
    const auto add = [&](ErrorSums& errors, const auto& prediction_at) {
      for (std::int64_t i = 0; i < count; ++i) {
        const double truth = panel.target_column(i % width).measured(start.first + i / width);
        if (!std::isnan(truth))
          errors.add(i, prediction_at(i), truth, naive[static_cast<std::size_t>(of * width + i % width)]);
      }
    };
    const Tensor predicted = closed_loop(model, forecast_inputs(panel, start, steps, series, model.loss()));
    add(sums.front(), [&](std::int64_t i) { return predicted.at(i * each + middle); });
    for (std::size_t b = 0; b < baselines.size(); ++b) {
      const std::vector<double> forecast = baselines[b].forecast(start);
      add(sums[b + 1], [&](std::int64_t i) { return forecast[static_cast<std::size_t>(i)]; });
    }
  }
  for (const ErrorSums& of_one : sums) scores.errors.push_back(of_one.errors());
  scores.verdict = verdict_of(scores.errors, model);
  return scores;
}

Plot plot_of(const HorizonScores& scores, const std::string& title) {
  Plot plot{
      .title = title, .x = {.title = "steps ahead"}, .y = {.title = "root mean squared error", .min = 0}};
  const std::int64_t width = std::ssize(scores.targets);
  for (std::int64_t i = 0; i < width; ++i) {
    const std::string prefix = width > 1 ? scores.targets[static_cast<std::size_t>(i)] + ", " : std::string();
    for (const HorizonErrors& errors : scores.errors)
      plot.lines.push_back(line_of_column(
          text_of(prefix, errors.key == "seasonal" ? "value " : "", errors.name), errors.rmse, i, 0, 1));
  }
  if (width == 1) plot.y.title += " of " + scores.targets.front();
  return plot;
}

}  // namespace lagtape
