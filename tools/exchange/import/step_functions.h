#pragma once

#include <map>
#include <string>

#include "lagtape/tools/exchange/import/step_graph.h"

namespace lagtape::foreign {

// Other programs' functions, written in terms of equation functions. Each adds values to a graph and returns
// the last.

int clipped(StepGraph& g, int a, double least, double most);  ///< infinite: no bound
int leaky_relu(StepGraph& g, int a, double slope);
/// scale * (max(a, 0) + alpha (exp(min(a, 0) / beta) - 1))
int exponential_unit(StepGraph& g, int a, double alpha, double beta, double scale);
int gelu(StepGraph& g, int a, bool by_tanh);
/// The largest or smallest element of a value: "maximum" or "minimum".
int extreme(StepGraph& g, const std::string& function, int a);
/// Functions of one value under Keras's names.
using StepFunction = int (*)(StepGraph& g, int a);
const std::map<std::string, StepFunction>& keras_functions();

int softmax(StepGraph& g, int a, bool is_logarithm);  ///< over a value's numbers

}  // namespace lagtape::foreign
