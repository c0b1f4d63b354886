#include "lagtape/tools/view/report/series_section.h"

#include <fmt/core.h>

#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/tools/train/losses.h"

namespace lagtape::report {

namespace {

using Cells = std::vector<std::string>;

/// A row for each of the shown series.
void write_metrics(ReportPage& page, const std::vector<SeriesEvaluation>& all,
                   const std::vector<std::size_t>& shown) {
  Cells head = {"series"};
  for (const auto& [name, value] : all.front().metrics) head.push_back(name);
  std::vector<Cells> rows;
  for (const std::size_t i : shown) {
    Cells& row = rows.emplace_back(Cells{all[i].name});
    for (const auto& [name, value] : all[i].metrics) row.push_back(fmt::format("{:.4g}", value));
  }
  page.table(head, rows);
}

/// The errors of a target by series, in the order of their relation to those of the best baseline.
void write_errors(ReportPage& page, const HorizonScores& horizons, std::size_t target) {
  const auto& [measure, best, of_all] = horizons.verdict;
  page.paragraph(text_of(kHorizonMetrics[measure], " of ", horizons.targets[target], " over ",
                         horizons.errors.front().rmse.size(0),
                         " steps from the model's own predictions, beside forecasts that need no network:"));
  Cells head = {"series", "forecasts"};
  for (const HorizonErrors& errors : horizons.errors) head.push_back(errors.name);
  std::vector<double> ratios;
  for (const HorizonOfSeries& series : horizons.series)
    ratios.push_back(series.errors.front().overall[target][measure] /
                     series.errors[best].overall[target][measure]);
  std::vector<Cells> rows;
  for (const std::size_t i : largest_and_smallest(ratios)) {
    const HorizonOfSeries& series = horizons.series[i];
    Cells& row = rows.emplace_back(Cells{series.name, text_of(series.origins)});
    for (const HorizonErrors& errors : series.errors)
      row.push_back(fmt::format("{:.4g}", errors.overall[target][measure]));
  }
  page.table(head, rows);
}

}  // namespace

SeriesSection::SeriesSection(const Experiment& experiment, const Model& model, const Dataset& split)
    : experiment_(experiment),
      split_(split),
      scores_(experiment, model, split),
      none_(split.shape(), normalization_of_data(model).output, experiment.loss) {}

void SeriesSection::add(const Tensor& outputs, const Batch& batch) {
  scores_.add(outputs, batch);
  for_each_series(split_, batch, [&](const PanelSeries& series, std::int64_t first, std::int64_t end) {
    plots_.try_emplace(series.first, none_).first->second.add(outputs, batch, first, end);
  });
}

void SeriesSection::write_charts(ReportPage& page, const std::vector<std::size_t>& shown) const {
  constexpr std::size_t kEach = 3;  // charts of the worst and of the best
  std::vector<const ForecastPlot*> plots;
  for (const auto& [first, plot] : plots_) plots.push_back(&plot);
  std::vector<Plot> charts;
  for (std::size_t k = 0; k < shown.size(); ++k) {
    if (k >= kEach && k + kEach < shown.size()) continue;
    Plot& chart = charts.emplace_back(plots[shown[k]]->plot("", &split_, target_names(experiment_)));
    chart.title = std::exchange(chart.subtitle, "");
  }
  page.paragraph("Prediction over the truth, on the test set:");
  page.charts(std::move(charts));
}

void SeriesSection::write(ReportPage& page, const HorizonScores* horizons) const {
  const std::vector<SeriesEvaluation> all = scores_.all();
  const std::vector<std::size_t> shown = worst_and_best(all);
  page.heading("Series");
  page.paragraph(all.size() == shown.size()
                     ? text_of("The test set of ", all.size(), " series, the largest loss first:")
                     : text_of("The test set of ", all.size(), " series, the ", kShownEach, " worst and the ",
                               kShownEach, " best by their loss; lagtape eval --json has all:"));
  write_metrics(page, all, shown);
  if (horizons != nullptr && !horizons->series.empty())
    for (std::size_t i = 0; i < horizons->targets.size(); ++i) write_errors(page, *horizons, i);
  write_charts(page, shown);
}

}  // namespace lagtape::report
