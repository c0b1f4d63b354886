#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/core/normalization.h"
#include "lagtape/data/dataset.h"
#include "lagtape/ops/recurrence/step/loss_function.h"
#include "lagtape/tools/chart/plot.h"

namespace lagtape::report {

/// A sequence that a model predicts wrongly.
struct Mistake {
  std::int64_t sequence = 0;
  double error =
      0;  ///< root mean squared error in the units of the data; for a class, the probability of the wrong one
  std::int64_t actual = -1, predicted = -1;  ///< classes; -1 for real targets
  std::int64_t step = 0;                     ///< step of the wrong class

  // The part to plot: at most kMostSteps steps around the mistake, in the units of the data.
  std::int64_t first_step = 0;
  std::vector<std::vector<double>> inputs =
      {};  ///< values of the first inputs; none for tokens and very long sequences
  std::vector<double> truths = {},
                      predictions = {};  ///< values of the first target, or of all steps; none for classes
};

/// Whether there is anything to draw.
bool has_chart(const Mistake& mistake);
/// Truth and prediction if there are several of them, else the inputs; the title describes the mistake.
Plot chart_of(const Mistake& mistake, const DataShape& data);

/// Collects the largest errors in a split, one sequence each.
class WorstMistakes {
 public:
  static constexpr std::size_t kMost = 10;
  static constexpr std::int64_t kMostSteps = 300, kMostInputs = 3;

  WorstMistakes(const DataShape& data, Normalization normalization, LossFunction loss)
      : data_(data), normalization_(std::move(normalization)), loss_(std::move(loss)) {}

  /// Adds a batch of a split, in order. `outputs`: [B, q] or [B, T, q], normalized like the targets; if there
  /// are several outputs per target, the one nearest to the median counts.
  void add(const Tensor& outputs, const Batch& batch);
  /// The mistakes, the largest first.
  const std::vector<Mistake>& all() const { return worst_; }

 private:
  Mistake mistake_of(const Tensor& outputs, const Batch& batch, std::int64_t row) const;
  /// Adds the part to plot.
  void keep_sequence(Mistake& mistake, const Tensor& outputs, const Batch& batch, std::int64_t row) const;

  DataShape data_;
  Normalization normalization_;
  LossFunction loss_;
  std::vector<Mistake> worst_;
};

}  // namespace lagtape::report
