#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/score/scores.h"

namespace lagtape {

/// The metrics of one of several series.
struct SeriesEvaluation {
  std::string name;
  Evaluation metrics;
};

/// The loss and metrics of each series of a split of several, from the batches that EvaluationOptions::scored gives.
class SeriesScores {
 public:
  /// All of them must outlive the scores.
  SeriesScores(const Experiment& experiment, const Model& model, const Dataset& split);

  void add(const Tensor& outputs, const Batch& batch);
  /// By series, in the order of the data; empty where the split is not of several series.
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
