#pragma once

#include <vector>

#include "lagtape/tools/exchange/export/exported_model.h"

namespace lagtape {

/// The values of a step that are the same in every row and step, computed in f64: one list per value of the
/// program, empty if the value is not fixed. Fixed are weights other than matrices, numbers, draws at their
/// evaluation values, and whatever is computed only from these.
std::vector<std::vector<double>> fixed_values(const ExportedLayer& layer);

}  // namespace lagtape
