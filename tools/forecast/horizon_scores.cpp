#include "lagtape/tools/forecast/horizon_scores.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
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

class HorizonScorer {
 public:
  HorizonScorer(const Model& model, const HorizonOptions& options)
      : model_(model), options_(options), series_(series_options_of(model)) {
    if (!options.path.empty()) series_.paths = {options.path};
    if (!options.frequency.empty()) series_.frequency = options.frequency;
    panel_ = panel_for(model, series_);
    season_ = season_of(panel_.axis, options.season);
    width_ = std::ssize(panel_.target);
  }

  HorizonScores run() {
    if (options_.season == 0 && possible_origins().empty())
      season_ = 0;  // a day is longer than what is there
    const std::vector<Origin> origins = chosen_origins();
    HorizonScores scores;
    scores.origins = std::ssize(origins);
    scores.season = season_;
    scores.read_later = read_later(panel_, series_, options_.steps);
    for (const std::int64_t column : panel_.target) scores.targets.push_back(panel_.column(column).name);
    scores.model = Tensor({options_.steps, width_}, Dtype::f64);
    scores.persistence = scores.model.clone();
    if (season_ > 0) scores.seasonal = scores.model.clone();
    known_.assign(static_cast<std::size_t>(scores.model.numel()), 0);
    for (const Origin& origin : origins) add(scores, origin);
    for (Tensor* sums : {&scores.model, &scores.persistence, &scores.seasonal})
      for (std::int64_t i = 0; i < sums->numel(); ++i)
        sums->set(i, std::sqrt(sums->at(i) / known_[static_cast<std::size_t>(i)]));
    return scores;
  }

 private:
  std::vector<RowRange> rows_of_split() const {
    if (options_.split == "all") return panel_.segments;
    const std::vector<SeriesSplit> splits = split_panel(series_, panel_);
    return splits[options_.split == "train" ? 0 : options_.split == "valid" ? 1 : 2].segments;
  }

  /// The number of rows that a forecast begins with at least.
  std::int64_t rows_before() const {
    const std::int64_t reading = reads_every_step(model_.at()) ? 1 : series_.window;
    return panel_.lead() + std::max({series_.horizon - 1 + reading, series_.window, season_});
  }

  /// Rows of the split with enough rows before and after them.
  std::vector<Origin> possible_origins() const {
    const std::int64_t before = rows_before();
    std::vector<Origin> possible;
    const std::vector<RowRange>& all = panel_.segments;
    for (const RowRange& part : rows_of_split()) {
      const RowRange& whole = *(std::ranges::upper_bound(all, part.first, {}, &RowRange::first) - 1);
      for (std::int64_t row = part.first; row + options_.steps <= part.end(); ++row)
        if (row - whole.first >= before)
          possible.push_back({row, std::max(whole.first, row - kMostWindows * before)});
    }
    return possible;
  }

  /// Some of them, spread over the split.
  std::vector<Origin> chosen_origins() const {
    const std::vector<Origin> possible = possible_origins();
    if (possible.empty()) {
      throw InputError({series_.where()}, Rule::missing,
                       text_of("no row of ", options_.split, " has ", rows_before(), " rows before it and ",
                               options_.steps, " from it on without a gap."));
    }
    std::vector<Origin> chosen;
    const std::int64_t apart = (std::ssize(possible) - 1) / kMostOrigins + 1;
    for (std::int64_t i = 0; i < std::ssize(possible); i += apart)
      chosen.push_back(possible[static_cast<std::size_t>(i)]);
    return chosen;
  }

  void add(HorizonScores& scores, const Origin& origin) {
    const RowRange rows = {origin.past, origin.row + options_.steps - origin.past};
    const ForecastInputs given = forecast_inputs(panel_, {.first = origin.row, .segment = rows},
                                                 options_.steps, series_, model_.loss());
    const Tensor predicted = closed_loop(model_, given);
    const std::int64_t each = model_.loss().outputs_of_target(), middle = model_.loss().middle();
    for (std::int64_t i = 0; i < options_.steps * width_; ++i) {
      const std::int64_t step = i / width_;
      const Column& column = panel_.target_column(i % width_);
      const double truth = column.measured(origin.row + step);
      if (std::isnan(truth)) continue;
      known_[static_cast<std::size_t>(i)] += 1;
      const auto add_to = [&](Tensor& sums, double guess) {
        sums.set(i, sums.at(i) + (guess - truth) * (guess - truth));
      };
      add_to(scores.model, predicted.at(i * each + middle));
      add_to(scores.persistence, column.at(origin.row - 1));
      if (season_ > 0) add_to(scores.seasonal, column.at(origin.row - season_ + step % season_));
    }
  }

  const Model& model_;
  const HorizonOptions& options_;
  SeriesOptions series_;
  Panel panel_;
  std::int64_t season_ = 0, width_ = 0;
  std::vector<double> known_;  ///< by step and target: how many forecasts have a truth
};

}  // namespace

HorizonScores score_horizons(const Model& model, const HorizonOptions& options) {
  if (options.steps < 1)
    throw InputError({.op = "forecast"}, Rule::out_of_range, "expected a horizon of at least 1",
                     text_of(options.steps));
  return HorizonScorer(model, options).run();
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
