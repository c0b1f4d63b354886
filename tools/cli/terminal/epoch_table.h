#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lagtape/tools/train/trainer.h"

namespace lagtape::cli {

/// The evaluations of a training as lines of a table that is at most `width` columns wide, at least 60. Metrics without
/// room are named once above the table; a run's metrics.jsonl has them all. The state that is kept has a star.
class EpochTable {
 public:
  explicit EpochTable(std::size_t width) : width_(width) {}

  /// The line of an evaluation, with the head of the table before the first.
  std::string lines_of(const EvaluationReport& report);

 private:
  std::string head_of(const EvaluationReport& report);

  std::size_t width_;
  std::vector<std::size_t> metrics_ = {};  ///< widths of the columns of the metrics that have room
  bool has_rate_ = false, begun_ = false;
};

}  // namespace lagtape::cli
