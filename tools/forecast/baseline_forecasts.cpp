#include "lagtape/tools/forecast/baseline_forecasts.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/data/baselines/panel_ridge.h"
#include "lagtape/data/baselines/theta.h"
#include "lagtape/data/series/windows.h"

namespace lagtape {

namespace {

/// A forecast by the column of each target: f(column, step, numbers) for steps from 0.
template <class F>
std::vector<double> by_target(const Panel& panel, const ForecastStart& start, std::int64_t steps, F f) {
  const KnownNumbers numbers(panel, start);
  std::vector<double> forecast;
  for (std::int64_t step = 0; step < steps; ++step)
    for (const std::int64_t column : panel.target) forecast.push_back(f(column, step, numbers));
  return forecast;
}

std::vector<double> theta(const Panel& panel, const ForecastStart& start, const BaselineOptions& options) {
  constexpr std::int64_t kPeriods = 20, kRows = 1000;  // that it is fitted to, at most
  const KnownNumbers numbers(panel, start);
  const std::int64_t first =
      std::max(start.segment.first, start.first - std::max(kPeriods * options.season, kRows));
  const std::int64_t width = std::ssize(panel.target);
  std::vector<double> forecast(static_cast<std::size_t>(options.steps * width));
  for (std::int64_t i = 0; i < width; ++i) {
    std::vector<double> past;
    for (std::int64_t row = first; row < start.first; ++row)
      past.push_back(numbers.at(panel.target[static_cast<std::size_t>(i)], row));
    const std::vector<double> of_target = theta_forecast(past, options.season, options.steps);
    for (std::int64_t step = 0; step < options.steps; ++step)
      forecast[static_cast<std::size_t>(step * width + i)] = of_target[static_cast<std::size_t>(step)];
  }
  return forecast;
}

}  // namespace

std::vector<BaselineForecast> baseline_forecasts(const Panel& panel, const SeriesOptions& series,
                                                 const BaselineOptions& options) {
  std::vector<BaselineForecast> all;
  all.push_back({"persistence", "last value", [&panel, options](const ForecastStart& start) {
                   return by_target(panel, start, options.steps,
                                    [&](std::int64_t column, std::int64_t, const KnownNumbers& numbers) {
                                      return numbers.at(column, start.first - 1);
                                    });
                 }});
  if (const std::int64_t season = options.season; season > 0)
    all.push_back(
        {"seasonal", text_of(season, " before"), [&panel, options, season](const ForecastStart& start) {
           return by_target(panel, start, options.steps,
                            [&](std::int64_t column, std::int64_t step, const KnownNumbers& numbers) {
                              return numbers.at(column, start.first - season + step % season);
                            });
         }});
  all.push_back({"theta", "Theta",
                 [&panel, options](const ForecastStart& start) { return theta(panel, start, options); }});
  std::optional<PanelRidge> fitted;
  if (options.has_training)
    fitted = PanelRidge::fit(panel, series, split_panel(series, panel), options.steps, options.season,
                             options.before);
  if (!fitted) return all;
  const auto ridge = std::make_shared<const PanelRidge>(std::move(*fitted));
  all.push_back({"ridge", "ridge", [&panel, ridge](const ForecastStart& start) {
                   const KnownNumbers numbers(panel, start);
                   return ridge->forecast(start.first, [&](std::int64_t column, std::int64_t row) {
                     return numbers.at(column, row);
                   });
                 }});
  return all;
}

}  // namespace lagtape
