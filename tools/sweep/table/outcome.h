#pragma once

#include <string>
#include <vector>

#include "lagtape/tools/sweep/table/run.h"

namespace lagtape::table {

/// The runs of one row and their statistics. Only runs that are done count.
struct Outcome {
  std::vector<const Run*> runs;  ///< the row's runs, by seed
  std::vector<double> values;    ///< the metric of the runs that are done
  /// Statistics of the values, NaN without any; `deviation` is that of a sample, NaN for one value.
  double mean = 0, deviation = 0, best = 0;
  double seconds = 0;       ///< mean duration of a run
  std::int64_t params = 0;  ///< number of the model's parameters; 0: not known
  int count(RunState state) const;
};

Outcome outcome_of(const PaperTable& table, std::size_t row, const std::vector<Run>& runs);

/// By how much the number of parameters of a row's model differs from the printed one, as a sentence. Empty
/// up to 5 %, and where either number is not known.
std::string parameter_difference(const Row& row, const Outcome& outcome);

/// The table as one JSON object.
std::string json(const PaperTable& table, const std::vector<Run>& runs);

}  // namespace lagtape::table
