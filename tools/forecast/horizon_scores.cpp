#include "lagtape/tools/forecast/horizon_scores.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/data/series/naive_errors.h"
#include "lagtape/data/series/windows.h"
#include "lagtape/tools/forecast/predicted_targets.h"
#include "lagtape/tools/forecast/recording_model.h"

namespace lagtape {

namespace {

constexpr std::int64_t kMostOrigins = 200, kMostWindows = 20;

/// A row at which a forecast may begin, and the first row of its past.
struct Origin {
  std::int64_t row, past;
};

/// The rows of a split.
std::vector<RowRange> rows_of_split(const std::string& split, const SeriesOptions& series,
                                    const Panel& panel) {
  if (split == "all") return panel.segments;
  const std::vector<SeriesSplit> splits = split_panel(series, panel);
  return splits[split == "train" ? 0 : split == "valid" ? 1 : 2].segments;
}

/// The number of rows that a forecast begins with at least.
std::int64_t rows_before(const Model& model, const SeriesOptions& series, const Panel& panel,
                         std::int64_t season) {
  const std::int64_t reading = reads_every_step(model.at()) ? 1 : series.window;
  return panel.lead() + std::max({series.horizon - 1 + reading, series.window, season});
}

/// Rows of these parts of a recording with `before` rows before them and `steps` from them on.
std::vector<Origin> possible_origins(const Panel& panel, const std::vector<RowRange>& parts,
                                     std::int64_t before, std::int64_t steps) {
  std::vector<Origin> possible;
  const std::vector<RowRange>& all = panel.segments;
  for (const RowRange& part : parts) {
    const RowRange& whole = *(std::ranges::upper_bound(all, part.first, {}, &RowRange::first) - 1);
    for (std::int64_t row = part.first; row <= part.end() - steps; ++row)
      if (row - whole.first >= before)
        possible.push_back({row, std::max(whole.first, row - kMostWindows * before)});
  }
  return possible;
}

/// Some of them, spread over the split.
std::vector<Origin> spread(const std::vector<Origin>& possible) {
  std::vector<Origin> chosen;
  const std::int64_t apart = (std::ssize(possible) - 1) / kMostOrigins + 1;
  for (std::int64_t i = 0; i < std::ssize(possible); i += apart)
    chosen.push_back(possible[static_cast<std::size_t>(i)]);
  return chosen;
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
  const std::vector<RowRange> parts = rows_of_split(options.split, series, panel);
  const auto origins_after = [&](std::int64_t season) {
    return possible_origins(panel, parts, rows_before(model, series, panel, season), steps);
  };
  std::int64_t season = season_of(panel.axis, options.season);
  std::vector<Origin> possible = origins_after(season);
  if (options.season == 0 && possible.empty())
    possible = origins_after(season = 0);  // a day is longer than what is there
  if (possible.empty())
    throw InputError({series.where()}, Rule::missing,
                     text_of("no row of ", options.split, " has ", rows_before(model, series, panel, season),
                             " rows before it and ", steps, " from it on without a gap."));
  const std::vector<Origin> origins = spread(possible);

  const std::int64_t width = std::ssize(panel.target), count = steps * width;
  HorizonScores scores{.targets = {}, .origins = std::ssize(origins), .season = season};
  scores.read_later = read_later(panel, series, steps);
  for (const std::int64_t column : panel.target) scores.targets.push_back(panel.column(column).name);
  scores.model = Tensor({steps, width}, Dtype::f64);
  scores.persistence = scores.model.clone();
  if (season > 0) scores.seasonal = scores.model.clone();
  std::vector<double> known(static_cast<std::size_t>(count), 0);  // how many forecasts have a truth
  const std::int64_t each = model.loss().outputs_of_target(), middle = model.loss().middle();
  for (const Origin& origin : origins) {
    const ForecastStart start{origin.row, {origin.past, origin.row + steps - origin.past}};
    const Tensor predicted = closed_loop(model, forecast_inputs(panel, start, steps, series, model.loss()));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t step = i / width;
      const Column& column = panel.target_column(i % width);
      const double truth = column.measured(origin.row + step);
      if (std::isnan(truth)) continue;
      known[static_cast<std::size_t>(i)] += 1;
      const auto add_to = [&](Tensor& sums, double guess) {
        sums.set(i, sums.at(i) + (guess - truth) * (guess - truth));
      };
      add_to(scores.model, predicted.at(i * each + middle));
      add_to(scores.persistence, column.at(origin.row - 1));
      if (season > 0) add_to(scores.seasonal, column.at(origin.row - season + step % season));
    }
  }
  for (Tensor* sums : {&scores.model, &scores.persistence, &scores.seasonal})
    for (std::int64_t i = 0; i < sums->numel(); ++i)
      sums->set(i, std::sqrt(sums->at(i) / known[static_cast<std::size_t>(i)]));
  return scores;
}

Plot plot_of(const HorizonScores& scores, const std::string& title) {
  Plot plot{
      .title = title, .x = {.title = "steps ahead"}, .y = {.title = "root mean squared error", .min = 0}};
  const std::int64_t width = std::ssize(scores.targets);
  for (std::int64_t i = 0; i < width; ++i) {
    const std::string prefix = width > 1 ? scores.targets[static_cast<std::size_t>(i)] + ", " : std::string();
    plot.lines.push_back(line_of_column(prefix + "model", scores.model, i, 0, 1));
    plot.lines.push_back(line_of_column(prefix + "last value", scores.persistence, i, 0, 1));
    if (scores.season > 0)
      plot.lines.push_back(
          line_of_column(text_of(prefix, "value ", scores.season, " before"), scores.seasonal, i, 0, 1));
  }
  if (width == 1) plot.y.title += " of " + scores.targets.front();
  return plot;
}

}  // namespace lagtape
