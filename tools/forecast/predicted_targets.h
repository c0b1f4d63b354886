#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/step/loss_function.h"
#include "lagtape/tools/chart/plot.h"

namespace lagtape {

/// Predictions of the targets of a recording, a row a time.
struct PredictedTargets {
  std::vector<std::string> targets = {};  ///< names
  std::vector<double> times = {};         ///< [rows], seconds since 1970; empty without times, like `labels`
  std::vector<std::string> labels = {};   ///< [rows], the times as in the file: ISO dates, or numbers
  Tensor prediction = {};      ///< [rows, targets], in the units of the data; the mean over several models,
                               ///< and of quantiles the one nearest to the median
  Tensor low = {}, high = {};  ///< the smallest and the largest of several models; empty for one
  std::vector<double> levels = {};     ///< of a model of quantiles: their levels, rising
  std::vector<Tensor> quantiles = {};  ///< a [rows, targets] for each level, in place of low and high
  Tensor truth = {};                   ///< [rows, targets], NaN where it is not known

  std::int64_t rows() const { return prediction.size(0); }
};

/// Puts the mean of the outputs [rows, targets * outputs for each] of several models into `predicted`, which has
/// names of targets already. Quantiles are put in order, so that none crosses another (Chernozhukov et al. 2010).
void put_outputs(PredictedTargets& predicted, std::span<const Tensor> outputs, const LossFunction& loss);

/// Puts the quantiles of drawn paths [paths, steps, targets] of several models into `predicted`, for the levels of the
/// loss.
void put_paths(PredictedTargets& predicted, std::span<const Tensor> drawn, const LossFunction& loss);

/// A column of a table before those of the predictions: a text a row.
struct LeadingColumn {
  std::string name;
  std::vector<std::string> cells;
};

/// A table with a header: the times, where there are any, the other leading columns, and for each target prediction,
/// low and high of several models or a column such as q0.1 for each quantile, and truth where it is known.
std::string csv_of(const PredictedTargets& predicted, std::span<const LeadingColumn> leading);

/// Adds the predictions of a target from row `from` on to a chart, with their intervals; that row has the place
/// `first` on the x axis.
void add_prediction(Plot& plot, const PredictedTargets& predicted, std::int64_t target, std::int64_t from,
                    std::int64_t first);

/// A line of one column of numbers, from row `from` on, which has the place `first` on the x axis.
PlotLine line_of_column(std::string name, const Tensor& numbers, std::int64_t column, std::int64_t from,
                        std::int64_t first);

/// The name of a target with a blank, where there are several; else nothing.
std::string prefix_of(const PredictedTargets& predicted, std::int64_t target);

}  // namespace lagtape
