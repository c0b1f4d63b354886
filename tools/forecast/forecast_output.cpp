#include <algorithm>
#include <cmath>
#include <limits>

#include "lagtape/core/error.h"
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

Plot plot_of(const SeriesForecast& forecast, const std::string& title) {
  const std::int64_t past = forecast.past.size(0);
  const std::int64_t shown = std::min(past, std::max<std::int64_t>(3 * forecast.steps(), 50));
  Plot plot{.title = title, .x = {.title = "steps after the past"}, .y = {.title = "target"}};
  if (forecast.targets.size() == 1) plot.y.title = forecast.targets.front();
  for (std::int64_t i = 0; i < std::ssize(forecast.targets); ++i) {
    PlotLine truth =
        line_of_column(prefix_of(forecast, i) + "past and truth", forecast.past, i, past - shown, 1 - shown);
    const PlotLine later = line_of_column("", forecast.truth, i, 0, 1);
    truth.x.insert(truth.x.end(), later.x.begin(), later.x.end());
    truth.y.insert(truth.y.end(), later.y.begin(), later.y.end());
    truth.broad = true;
    plot.lines.push_back(std::move(truth));
    add_prediction(plot, forecast, i, 0, 1);
  }
  return plot;
}

}  // namespace lagtape
