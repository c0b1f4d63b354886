#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/analysis/comparison.h"
#include "lagtape/tools/chart/plot.h"

namespace lagtape {

/// The learning curves of each metric on the validation set that all runs have, by its name ("loss" is the loss, which
/// comes first): a line a group, the mean of its runs, against epochs, or against updates where a run has no epochs. A
/// metric whose smaller values are better has a logarithmic axis. Throws InputError for a line of a run's metrics.jsonl
/// that is not a JSON object, or whose position is not a number.
std::vector<std::pair<std::string, Plot>> compared_curves(const Comparison& comparison);

}  // namespace lagtape
