#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/data/table/column.h"
#include "lagtape/data/time/time_zone.h"
#include "lagtape/ops/recurrence/step/loss_function.h"
#include "lagtape/tools/chart/plot.h"

namespace lagtape {

/// A column that precedes the predictions in a table: one text or number per row.
struct LeadingColumn {
  std::string name;
  std::variant<std::vector<std::string>, std::vector<std::int64_t>> cells;
};

/// Predictions of a recording's targets, one row per time.
struct PredictedTargets {
  std::vector<std::string> targets = {};    ///< names
  std::vector<std::string> units = {};      ///< [targets], any of which may be empty; none: all are empty
  std::vector<Instant> times = {};          ///< [rows]; empty without times, like `labels`
  std::vector<std::string> labels = {};     ///< [rows], the times as in the file: ISO dates, or numbers
  std::optional<TimeZone> clock = {};       ///< the clock for dates in charts; empty: times are not dates
  std::vector<LeadingColumn> ids = {};      ///< the names of the rows' series, in one or several columns
  std::vector<LeadingColumn> leading = {};  ///< other columns: a row's step, its place, ...
  /// [rows, targets], in the units of the data; the mean over several models; for quantiles the one nearest to
  /// the median, for distributions their mean
  Tensor prediction = {};
  Tensor low = {}, high = {};          ///< the smallest and the largest of several models; empty for one
  std::vector<double> levels = {};     ///< the levels of a quantile or distribution model, ascending
  std::vector<Tensor> quantiles = {};  ///< one [rows, targets] per level, instead of low and high
  Tensor lower = {},
         upper =
             {};  ///< limits of an interval that contains the truth with probability `interval`; empty: none
  double interval = 0;
  Tensor truth = {};  ///< [rows, targets], NaN if unknown

  std::int64_t rows() const { return prediction.size(0); }
};

/// Stores the mean of several models' outputs [rows, targets * outputs for each] in `predicted`, whose target
/// names are already set. Quantiles are sorted so that none cross (Chernozhukov et al. 2010).
void put_outputs(PredictedTargets& predicted, std::span<const Tensor> outputs, const LossFunction& loss);

/// Stores the quantiles of several models' drawn paths [paths, steps, targets] in `predicted`, for the loss's
/// levels.
void put_paths(PredictedTargets& predicted, std::span<const Tensor> drawn, const LossFunction& loss);

/// The columns that name a series, with this many rows each.
std::vector<LeadingColumn> id_columns(const std::vector<std::string>& columns,
                                      const std::vector<std::string>& id, std::int64_t rows);

/// The targets of several series, one below the other.
PredictedTargets joined(std::span<const PredictedTargets* const> parts);

/// The columns of the targets by name: the prediction, its bounds and quantiles, and the truth.
std::vector<std::pair<std::string, const Tensor*>> parts_of(const PredictedTargets& predicted);

/// The targets with their units.
std::vector<Quantity> quantities_of(const PredictedTargets& predicted);

/// Adds the predictions of a target to a chart, with their intervals: as many of the last ones as fit the x
/// axis.
void add_prediction(Plot& plot, const PredictedTargets& predicted, std::int64_t target,
                    std::span<const double> places);

/// A line for one column of numbers [rows, columns], with as many of its last rows as fit the x axis.
PlotLine line_of_column(std::string name, const Tensor& numbers, std::int64_t column,
                        std::span<const double> places);

/// The name of a target followed by a blank if there are several; else empty.
std::string prefix_of(const PredictedTargets& predicted, std::int64_t target);
/// The same with its unit, if units differ.
std::string legend_of(const PredictedTargets& predicted, std::int64_t target);

}  // namespace lagtape
