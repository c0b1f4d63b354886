#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/tools/exchange/import/step_graph.h"

namespace lagtape::foreign {

// Unrolled graphs, which exporters write for loops over a fixed number of steps.

/// The cell whose output at step t is values[t], if each step computes its value from the previous ones in the
/// same way. None if the steps differ, or there are fewer than 3.
std::optional<int> cell_of_steps(StepGraph& graph, const std::vector<int>& values);

/// A graph's value without values of single steps: the last step's value becomes a read-out, the first step's
/// is kept, and unrolled steps become a cell. Throws InputError that starts with `where` for others.
int rolled(StepGraph& graph, int value, const std::string& where);

}  // namespace lagtape::foreign
