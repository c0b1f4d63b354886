#pragma once

#include <vector>

#include "lagtape/tools/exchange/export/exported_model.h"

namespace lagtape {

/// The values of a step that are the same in every row and step, computed in f64: one list a value of the
/// program, empty where the value is not fixed. Fixed are weights (but matrices), numbers, draws as they are
/// in evaluation, and whatever is computed from these alone.
std::vector<std::vector<double>> fixed_values(const ExportedLayer& layer);

}  // namespace lagtape
