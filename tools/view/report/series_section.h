#pragma once

#include <map>

#include "lagtape/tools/analysis/series_scores.h"
#include "lagtape/tools/forecast/horizon_scores.h"
#include "lagtape/tools/view/forecast_plot.h"
#include "lagtape/tools/view/report/report_page.h"

namespace lagtape::report {

/// Collects the section on each of several series: metrics, forecasts compared with baselines, and a chart.
class SeriesSection {
 public:
  /// All of them must outlive the section.
  SeriesSection(const Experiment& experiment, const Model& model, const Dataset& split);

  /// Adds a batch of the split, in order.
  void add(const Tensor& outputs, const Batch& batch);
  bool is_empty() const { return plots_.empty(); }
  /// The series that the model predicts worst and best; `horizons` are the scores of its forecasts; null: there
  /// are none.
  void write(ReportPage& page, const HorizonScores* horizons) const;

 private:
  void write_charts(ReportPage& page, const std::vector<std::size_t>& shown) const;

  const Experiment& experiment_;
  const Dataset& split_;
  SeriesScores scores_;
  ForecastPlot none_;                           ///< of no sequences
  std::map<std::int64_t, ForecastPlot> plots_;  ///< by the first row of the series, like the scores
};

}  // namespace lagtape::report
