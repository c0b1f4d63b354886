#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lagtape/tools/train/trainer.h"

namespace lagtape::cli {

/// A training run's evaluations as lines of a table that is at most `width` columns wide (at least 60). Metrics
/// that do not fit are listed once above the table; metrics.jsonl in the run folder contains them all. A star
/// marks the state that is kept.
class EpochTable {
 public:
  explicit EpochTable(std::size_t width) : width_(width) {}

  /// The line for an evaluation, preceded by the table's head before the first.
  std::string lines_of(const EvaluationReport& report);

 private:
  std::string head_of(const EvaluationReport& report);

  std::size_t width_;
  std::vector<std::size_t> metrics_ = {};  ///< column widths of the metrics that fit
  bool has_rate_ = false, begun_ = false;
};

}  // namespace lagtape::cli
