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

/// A column of a table before those of the predictions: a text or a number a row.
struct LeadingColumn {
  std::string name;
  std::variant<std::vector<std::string>, std::vector<std::int64_t>> cells;
};

/// Predictions of the targets of a recording, a row a time.
struct PredictedTargets {
  std::vector<std::string> targets = {};    ///< names
  std::vector<std::string> units = {};      ///< [targets], each of which may be empty; none: all are
  std::vector<Instant> times = {};          ///< [rows]; empty without times, like `labels`
  std::vector<std::string> labels = {};     ///< [rows], the times as in the file: ISO dates, or numbers
  std::optional<TimeZone> clock = {};       ///< the clock of dates in charts; empty: times are not dates
  std::vector<LeadingColumn> ids = {};      ///< the names of the series of the rows, a column or several
  std::vector<LeadingColumn> leading = {};  ///< other columns of a row: its step, its place, ...
  Tensor prediction = {};  ///< [rows, targets], in the units of the data; the mean over several models, of
                           ///< quantiles the one nearest to the median, of distributions their mean
  Tensor low = {}, high = {};          ///< the smallest and the largest of several models; empty for one
  std::vector<double> levels = {};     ///< the levels of a model of quantiles or distributions, rising
  std::vector<Tensor> quantiles = {};  ///< a [rows, targets] for each level, in place of low and high
  Tensor
      lower = {},
      upper =
          {};  ///< limits of an interval that contains the truth with the probability `interval`; empty: none
  double interval = 0;
  Tensor truth = {};  ///< [rows, targets], NaN where it is not known

  std::int64_t rows() const { return prediction.size(0); }
};

/// Puts the mean of the outputs [rows, targets * outputs for each] of several models into `predicted`, which has
/// names of targets already. Quantiles are put in order, so that none crosses another (Chernozhukov et al. 2010).
void put_outputs(PredictedTargets& predicted, std::span<const Tensor> outputs, const LossFunction& loss);

/// Puts the quantiles of drawn paths [paths, steps, targets] of several models into `predicted`, for the levels of the
/// loss.
void put_paths(PredictedTargets& predicted, std::span<const Tensor> drawn, const LossFunction& loss);

/// The columns that name a series, so many rows of each.
std::vector<LeadingColumn> id_columns(const std::vector<std::string>& columns,
                                      const std::vector<std::string>& id, std::int64_t rows);

/// The targets of several series, one below the other.
PredictedTargets joined(std::span<const PredictedTargets* const> parts);

/// The columns of the targets by name: the prediction, its bounds and quantiles, and the truth.
std::vector<std::pair<std::string, const Tensor*>> parts_of(const PredictedTargets& predicted);

/// The targets with their units.
std::vector<Quantity> quantities_of(const PredictedTargets& predicted);

/// Adds the predictions of a target to a chart, with their intervals: the last ones that fit the x axis.
void add_prediction(Plot& plot, const PredictedTargets& predicted, std::int64_t target,
                    std::span<const double> places);

/// A line of one column of numbers [rows, columns], of its last rows that fit the x axis.
PlotLine line_of_column(std::string name, const Tensor& numbers, std::int64_t column,
                        std::span<const double> places);

/// The name of a target with a blank, where there are several; else nothing.
std::string prefix_of(const PredictedTargets& predicted, std::int64_t target);
/// The same with its unit, where units differ.
std::string legend_of(const PredictedTargets& predicted, std::int64_t target);

}  // namespace lagtape
