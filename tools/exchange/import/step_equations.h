#pragma once

#include <map>
#include <utility>
#include <vector>

#include "lagtape/tools/exchange/import/step_graph.h"

namespace lagtape::foreign {

/// The positions of values in a layer's input: the first index and the count, piece by piece.
using StepLayout = std::map<int, std::vector<std::pair<std::int64_t, std::int64_t>>>;

/// The layer that computes `nodes`, in order, from an input of `width` numbers in that layout, and outputs the
/// targets one after the other.
ForeignEntry equation_layer(const StepGraph& graph, const std::vector<int>& nodes, const StepLayout& layout,
                            std::int64_t width, const std::vector<int>& targets, const std::string& name);

}  // namespace lagtape::foreign
