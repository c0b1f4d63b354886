#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/analysis/comparison.h"
#include "lagtape/tools/chart/plot.h"

namespace lagtape {

/// The learning curves on the validation set for each metric that all runs have, by name ("loss", the loss,
/// comes first): one line per group, the mean of its runs, against epochs, or against updates if a run has no
/// epochs. A metric for which smaller is better has a logarithmic axis. Throws InputError for a line in a run's
/// metrics.jsonl that is not a JSON object, or whose position is not a number.
std::vector<std::pair<std::string, Plot>> compared_curves(const Comparison& comparison);

}  // namespace lagtape
