#include "lagtape/tools/forecast/horizon_scores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/data/series/naive_errors.h"
#include "lagtape/ops/loss_rows.h"
#include "lagtape/tools/chart/row_axis.h"
#include "lagtape/tools/forecast/baseline_forecasts.h"
#include "lagtape/tools/forecast/conformal.h"
#include "lagtape/tools/forecast/rolling_origins.h"
#include "lagtape/tools/train/score/metrics.h"

namespace lagtape {

namespace {

constexpr PathOptions kPaths = {.paths = 100};  // of each of hundreds of forecasts

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

/// Counts how often intervals contain the truth.
class IntervalSums {
 public:
  IntervalSums(double level, std::int64_t calibrations, std::int64_t steps, std::int64_t width)
      : scores_{.level = level, .calibrations = calibrations, .coverage = Tensor({steps, width}, Dtype::f64)},
        counts_(static_cast<std::size_t>(steps * width)),
        widths_(counts_.size()) {}

  void add(std::int64_t place, double low, double high, double truth) {
    counts_[static_cast<std::size_t>(place)] += 1;
    widths_[static_cast<std::size_t>(place)] += high - low;
    if (low <= truth && truth <= high) scores_.coverage.set(place, scores_.coverage.at(place) + 1);
  }

  IntervalScores scores() {
    const std::int64_t width = scores_.coverage.size(1);
    for (std::int64_t target = 0; target < width; ++target) {
      double covered = 0, count = 0, sum = 0;
      for (std::int64_t place = target; place < scores_.coverage.numel(); place += width) {
        covered += scores_.coverage.at(place);
        count += counts_[static_cast<std::size_t>(place)];
        sum += widths_[static_cast<std::size_t>(place)];
        scores_.coverage.set(place, scores_.coverage.at(place) / counts_[static_cast<std::size_t>(place)]);
      }
      scores_.overall.push_back(covered / count);
      scores_.width.push_back(sum / count);
    }
    return std::move(scores_);
  }

 private:
  IntervalScores scores_;
  std::vector<double> counts_, widths_;  // [steps, targets]
};

/// The mean pinball loss of quantiles at a place.
double pinball_of(const PredictedTargets& predicted, std::int64_t place, double truth) {
  std::vector<double> quantiles;
  for (const Tensor& of_level : predicted.quantiles) quantiles.push_back(of_level.at(place));
  const std::int64_t levels = std::ssize(quantiles);
  return quantile_row<double>(quantiles.data(), &truth, 1, predicted.levels.data(), levels, 1, nullptr) /
         static_cast<double>(levels);
}

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
  verdict.measure = model.loss() == Loss::quantile || model.loss() == Loss::mae ? 1 : 0;
  for (std::size_t i = 1; i < errors.size(); ++i) {
    const double ratio = ratio_of(errors.front(), errors[i], verdict.measure);
    if (verdict.best > 0 && (std::isnan(ratio) || ratio <= verdict.ratio)) continue;
    verdict.best = i;
    verdict.ratio = ratio;
  }
  return verdict;
}

/// The starts of the forecasts. A season that was not given is dropped where the rows are too few for it.
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

/// The intervals that are asked for.
std::optional<ConformalIntervals> intervals_of(const Model& model, const Panel& panel,
                                               const SeriesOptions& series, const HorizonOptions& options,
                                               std::int64_t steps, std::int64_t before) {
  if (!options.interval) return std::nullopt;
  if (options.split == "valid" || options.split == "all")
    throw InputError(
        {.item = "--interval"}, Rule::conflict,
        text_of("intervals come from the errors in the validation rows, which are among those of --split ",
                options.split));
  return std::optional<ConformalIntervals>(
      std::in_place, std::span(&model, 1), panel, series,
      rolling_origins(panel, rows_of_split("valid", series, panel), before, steps, kMostCalibrations), steps,
      *options.interval, kPaths);
}

/// Forecasts of a model and of the baselines, and all that is added up of their errors.
class HorizonRun {
 public:
  HorizonRun(const Model& model, const Panel& panel, const SeriesOptions& series,
             const HorizonOptions& options, std::int64_t steps, const Origins& origins)
      : model_(model),
        ready_(model),
        panel_(panel),
        series_(series),
        steps_(steps),
        width_(std::ssize(panel.target)),
        baselines_(baseline_forecasts(panel, series,
                                      {.steps = steps,
                                       .season = origins.season,
                                       .before = origins.before,
                                       .has_training = options.split != "all"})),
        naive_(naive_errors(panel, split_panel(series, panel).front().segments)),
        conformal_(intervals_of(model, panel, series, options, steps, origins.before)),
        pinball_(static_cast<std::size_t>(width_)),
        forecasts_(pinball_.size()),
        truth_(pinball_.size()) {
    errors_.emplace_back("model", "model", steps, width_);
    for (const BaselineForecast& baseline : baselines_)
      errors_.emplace_back(baseline.key, baseline.name, steps, width_);
    none_ = errors_;
    const std::vector<double>& levels = model.loss().options.levels;
    if (model.loss().has_levels() && levels.size() > 1)
      own_.emplace(levels.back() - levels.front(), 0, steps, width_);
    if (conformal_) covered_.emplace(conformal_->level(), conformal_->forecasts(), steps, width_);
  }

  void add(const ForecastStart& start) {
    PredictedTargets predicted;
    for (const std::int64_t column : panel_.target) predicted.targets.push_back(panel_.column(column).name);
    put_forecast(predicted, std::span(&ready_, 1),
                 forecast_inputs(panel_, start, steps_, series_, model_.loss()), kPaths);
    if (conformal_) conformal_->add_to(predicted, start.first);
    std::vector<std::vector<double>> others;
    for (const BaselineForecast& baseline : baselines_) others.push_back(baseline.forecast(start));
    const std::int64_t series = panel_.series_of(start.first);
    const bool is_named = !panel_.series_columns.empty();
    OfSeries& own = by_series_[series];
    ++own.origins;
    if (is_named && own.errors.empty()) own.errors = none_;
    for (std::int64_t i = 0; i < steps_ * width_; ++i) {
      const auto target = static_cast<std::size_t>(i % width_);
      const double truth = panel_.target_column(i % width_).measured(start.first + i / width_);
      for (const auto& [rows, value] :
           {std::pair(&forecasts_, predicted.prediction.at(i)), std::pair(&truth_, truth)}) {
        if (i < width_) (*rows)[target].emplace_back();
        (*rows)[target].back().push_back(value);
      }
      if (std::isnan(truth)) continue;
      const NaiveErrors& naive = naive_[static_cast<std::size_t>(series * width_) + target];
      for (std::vector<ErrorSums>* errors : {&errors_, is_named ? &own.errors : nullptr}) {
        if (errors == nullptr) continue;
        errors->front().add(i, predicted.prediction.at(i), truth, naive);
        for (std::size_t b = 0; b < others.size(); ++b)
          (*errors)[b + 1].add(i, others[b][static_cast<std::size_t>(i)], truth, naive);
      }
      if (own_) own_->add(i, predicted.quantiles.front().at(i), predicted.quantiles.back().at(i), truth);
      if (covered_) covered_->add(i, predicted.lower.at(i), predicted.upper.at(i), truth);
      if (predicted.levels.empty()) continue;
      pinball_[target].first += pinball_of(predicted, i, truth);
      pinball_[target].second += 1;
    }
  }

  void put(HorizonScores& scores) {
    for (const ErrorSums& of_one : errors_) scores.errors.push_back(of_one.errors());
    for (std::optional<IntervalSums>* sums : {&own_, &covered_})
      if (*sums) scores.intervals.push_back((*sums)->scores());
    if (model_.loss().has_levels())
      for (const auto& [sum, count] : pinball_) scores.pinball.push_back(sum / count);
    for (std::size_t i = 0; i < truth_.size(); ++i)
      scores.shapes.push_back(shape_of_forecasts(forecasts_[i], truth_[i]));
    scores.verdict = verdict_of(scores.errors, model_);
    for (const auto& [number, of] : by_series_) {
      if (of.errors.empty()) continue;
      HorizonOfSeries& own = scores.series.emplace_back();
      own.name = panel_.series[static_cast<std::size_t>(number)].name();
      own.origins = of.origins;
      for (const ErrorSums& of_one : of.errors) own.errors.push_back(of_one.errors());
    }
  }

 private:
  struct OfSeries {
    std::int64_t origins = 0;
    std::vector<ErrorSums> errors = {};
  };

  const Model& model_;
  ForecastModel ready_;
  const Panel& panel_;
  const SeriesOptions& series_;
  std::int64_t steps_, width_;
  std::vector<BaselineForecast> baselines_;
  std::vector<NaiveErrors> naive_;  // [series, targets]
  std::optional<ConformalIntervals> conformal_;
  std::vector<ErrorSums> errors_, none_;  // and without any errors
  std::map<std::int64_t, OfSeries> by_series_ = {};
  std::optional<IntervalSums> own_, covered_;
  std::vector<std::pair<double, double>> pinball_;                   // by target: sum and count
  std::vector<std::vector<std::vector<double>>> forecasts_, truth_;  // by target and forecast: [steps]
};

}  // namespace

HorizonScores score_horizons(const Model& model, const HorizonOptions& options) {
  SeriesOptions series = series_options_of(model);
  if (!options.path.empty()) series.paths = {options.path};
  if (!options.frequency.empty()) series.frequency = options.frequency;
  const Panel panel = panel_for(model, series);
  const std::int64_t steps = options.steps.in_steps(panel);
  if (steps < 1)
    throw unexpected({.op = "forecast"}, Rule::out_of_range, "a horizon of at least 1", text_of(steps));
  const Origins origins = origins_of(model, series, panel, options, steps);
  HorizonScores scores;
  scores.origins = std::ssize(origins.starts);
  scores.season = origins.season;
  scores.read_later = read_later(panel, series, steps);
  for (const std::int64_t column : panel.target) scores.targets.push_back(panel.column(column).name);
  HorizonRun run(model, panel, series, options, steps, origins);
  for (const ForecastStart& start : origins.starts) run.add(start);
  run.put(scores);
  return scores;
}

Plot plot_of(const HorizonScores& scores, const std::string& title) {
  Plot plot{
      .title = title, .x = {.title = "steps ahead"}, .y = {.title = "root mean squared error", .min = 0}};
  const std::int64_t width = std::ssize(scores.targets);
  const RowAxis steps = axis_of_numbers("", 1, scores.errors.front().rmse.size(0));
  for (std::int64_t i = 0; i < width; ++i) {
    const std::string prefix = width > 1 ? scores.targets[static_cast<std::size_t>(i)] + ", " : std::string();
    for (const HorizonErrors& errors : scores.errors)
      plot.lines.push_back(
          line_of_column(text_of(prefix, errors.key == "seasonal" ? "value " : "", errors.name), errors.rmse,
                         i, steps.places));
  }
  if (width == 1) plot.y.title += " of " + scores.targets.front();
  return plot;
}

}  // namespace lagtape
