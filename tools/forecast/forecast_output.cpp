#include <algorithm>
#include <cmath>
#include <limits>

#include "lagtape/core/text.h"
#include "lagtape/tools/chart/row_axis.h"
#include "lagtape/tools/forecast/series_forecast.h"

namespace lagtape {

ForecastScores scores_of(const SeriesForecast& forecast, std::int64_t target) {
  const std::int64_t width = std::ssize(forecast.targets), past = forecast.past.size(0);
  ForecastScores scores;
  const auto past_value = [&](std::int64_t row) { return forecast.past.at(row * width + target); };
  const bool has_season = forecast.season > 0 && forecast.season <= past;
  for (std::int64_t step = 0; step < forecast.steps(); ++step) {
    const double truth = forecast.truth.at(step * width + target);
    if (std::isnan(truth)) continue;
    const auto squared = [&](double guess) { return (guess - truth) * (guess - truth); };
    scores.known += 1;
    scores.rmse += squared(forecast.prediction.at(step * width + target));
    scores.persistence += squared(past_value(past - 1));
    if (has_season) scores.seasonal += squared(past_value(past - forecast.season + step % forecast.season));
  }
  const auto root = [&](double sum) { return std::sqrt(sum / static_cast<double>(scores.known)); };
  scores.rmse = root(scores.rmse);
  scores.persistence = root(scores.persistence);
  scores.seasonal = has_season ? root(scores.seasonal) : std::numeric_limits<double>::quiet_NaN();
  return scores;
}

ForecastScores scores_of(std::span<const SeriesForecast> forecasts, std::int64_t target) {
  if (forecasts.size() == 1) return scores_of(forecasts.front(), target);
  ForecastScores all;
  for (const SeriesForecast& forecast : forecasts) {
    const ForecastScores own = scores_of(forecast, target);
    if (own.known == 0) continue;
    const auto known = static_cast<double>(own.known);
    all.known += own.known;
    all.rmse += known * own.rmse * own.rmse;
    all.persistence += known * own.persistence * own.persistence;
    all.seasonal += known * own.seasonal * own.seasonal;
  }
  for (double* sum : {&all.rmse, &all.persistence, &all.seasonal})
    *sum = std::sqrt(*sum / static_cast<double>(all.known));
  return all;
}

PredictedTargets joined(std::span<const SeriesForecast> forecasts) {
  std::vector<const PredictedTargets*> parts;
  for (const SeriesForecast& forecast : forecasts) parts.push_back(&forecast);
  return joined(std::span<const PredictedTargets* const>(parts));
}

Plot plot_of(std::span<const SeriesForecast> forecasts, const std::string& title) {
  if (forecasts.size() == 1) return plot_of(forecasts.front(), title);
  const auto shown = std::min<std::int64_t>(std::ssize(forecasts), kMostDrawn);
  const std::string which = shown < std::ssize(forecasts)
                                ? text_of(", the first ", shown, " of ", forecasts.size(), " series")
                                : std::string();
  Plot plot = plot_of(forecasts.front(), title + which);
  plot.subtitle.clear();
  plot.lines.clear();
  plot.bands.clear();
  for (const SeriesForecast& forecast : forecasts.first(static_cast<std::size_t>(shown))) {
    Plot own = plot_of(forecast, title);
    const double later = plot.x.clock && own.x.clock ? plot.x.clock->place(own.x.clock->zero) : 0;
    const auto shift = [&](std::vector<double>& places) {
      for (double& place : places) place += later;
    };
    // Each target of each series has a color, and the legend says once what is pale and what is broad.
    const bool is_first = plot.lines.empty(), is_of_one = own.lines.size() == 2;
    for (PlotBand& band : own.bands) {
      shift(band.x);
      band.line += plot.lines.size();
      if (!is_first) band.name.clear();
      plot.bands.push_back(std::move(band));
    }
    for (PlotLine& line : own.lines) {
      shift(line.x);
      line.color = static_cast<int>(plot.lines.size() / 2);
      if (line.broad && !is_first) line.name.clear();
      if (!line.broad) line.name = is_of_one ? forecast.name : text_of(forecast.name, " ", line.name);
      plot.lines.push_back(std::move(line));
    }
  }
  return plot;
}

Plot plot_of(const SeriesForecast& forecast, const std::string& title) {
  const std::int64_t past = forecast.past.size(0);
  const std::int64_t shown = std::min(past, std::max<std::int64_t>(3 * forecast.steps(), 50));
  std::vector<Instant> times;
  if (!forecast.times.empty()) times.assign(forecast.past_times.end() - shown, forecast.past_times.end());
  times.insert(times.end(), forecast.times.begin(), forecast.times.end());
  const RowAxis rows = times.empty()
                           ? axis_of_numbers("steps after the past", 1 - shown, shown + forecast.steps())
                           : axis_of_times(times, forecast.clock);
  const std::span<const double> all = rows.places;
  const std::span<const double> later = all.last(static_cast<std::size_t>(forecast.steps()));
  Plot plot{.title = title,
            .subtitle = forecast.name,
            .x = rows.axis,
            .y = {.title = axis_title(quantities_of(forecast), "target")}};
  for (std::int64_t i = 0; i < std::ssize(forecast.targets); ++i) {
    PlotLine truth = line_of_column(legend_of(forecast, i) + "past and truth", forecast.past, i,
                                    all.first(static_cast<std::size_t>(shown)));
    const PlotLine known = line_of_column("", forecast.truth, i, later);
    truth.x.insert(truth.x.end(), known.x.begin(), known.x.end());
    truth.y.insert(truth.y.end(), known.y.begin(), known.y.end());
    truth.broad = true;
    plot.lines.push_back(std::move(truth));
    add_prediction(plot, forecast, i, later);
    if (forecast.targets.size() > 1)  // each has a color
      for (PlotLine& line : std::span(plot.lines).last(2)) line.color = static_cast<int>(i);
  }
  return plot;
}

}  // namespace lagtape
