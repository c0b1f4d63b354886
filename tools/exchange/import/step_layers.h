#pragma once

#include <string>

#include "lagtape/tools/exchange/import/step_graph.h"

namespace lagtape::foreign {

/// Gives a model the layers that compute a graph's value from the model's input. Each recurrence is a layer;
/// values needed above it are passed on next to its output. Between recurrences, a map, a function and a norm
/// each become a layer if they are applied in sequence; if they branch, they become one layer given by
/// equations. A scale and a shift of the input or output become the normalization, and a mean over time before
/// the last map becomes the read-out's.
void add_layers(ForeignModel& model, const StepGraph& graph, int output, const std::string& where);

}  // namespace lagtape::foreign
