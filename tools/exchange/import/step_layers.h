#pragma once

#include <string>

#include "lagtape/tools/exchange/import/step_graph.h"

namespace lagtape::foreign {

/// Gives a model the layers that compute a value of a graph from the model's input. A recurrence is a layer; values
/// that are needed above it are passed on beside its output. Between recurrences a map, a function and a norm are
/// layers by themselves where they follow each other, and one layer of equations where they branch. A scale and a shift
/// of the input or of the output become the normalization, a mean over time before the last map the read-out's.
void add_layers(ForeignModel& model, const StepGraph& graph, int output, const std::string& where);

}  // namespace lagtape::foreign
