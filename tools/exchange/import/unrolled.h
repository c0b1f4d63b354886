#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/tools/exchange/import/step_graph.h"

namespace lagtape::foreign {

// Graphs that write each step down, as exporters do with loops over a fixed number of steps.

/// The cell whose output at step t is values[t], where each step computes one from those before. None where the steps
/// differ, or are fewer than 3.
std::optional<int> cell_of_steps(StepGraph& graph, const std::vector<int>& values);

/// A value of a graph without values of single steps: the last step's becomes a read-out, the first one's is kept, and
/// unrolled steps become a cell. Throws InputError that begins with `where` for others.
int rolled(StepGraph& graph, int value, const std::string& where);

}  // namespace lagtape::foreign
