#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lagtape/data/series/panel.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/score/scores.h"

namespace lagtape {

/// The metrics of one series out of several.
struct SeriesEvaluation {
  std::string name;
  Evaluation metrics;
};

/// How many of the largest, and of the smallest, of many values to show.
inline constexpr std::size_t kShownEach = 5;

/// The values to show of many: up to 10, or the 5 largest and the 5 smallest, the largest first. NaN is
/// larger than all.
std::vector<std::size_t> largest_and_smallest(std::span<const double> values);
/// The series with the largest and the smallest losses.
std::vector<std::size_t> worst_and_best(std::span<const SeriesEvaluation> series);

/// The rows first .. end - 1 of a batch, all of one series.
using SeriesRows = std::function<void(const PanelSeries& series, std::int64_t first, std::int64_t end)>;
/// Calls it with the rows of each series in a batch, if the split has several series.
void for_each_series(const Dataset& split, const Batch& batch, const SeriesRows& use);

/// The loss and metrics of each series in a split with several, from the batches of EvaluationOptions::scored.
class SeriesScores {
 public:
  /// All of them must outlive the scores.
  SeriesScores(const Experiment& experiment, const Model& model, const Dataset& split);

  void add(const Tensor& outputs, const Batch& batch);
  /// By series, in data order; empty for a split with one series.
  std::vector<SeriesEvaluation> all() const;

 private:
  struct OfSeries {
    std::string name;
    Scores scores;
  };

  const Experiment& experiment_;
  const Dataset& split_;
  Scores none_;                            ///< of no sequences
  std::map<std::int64_t, OfSeries> of_{};  ///< by the first row of the series
};

}  // namespace lagtape
