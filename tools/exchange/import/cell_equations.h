#pragma once

#include <string>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// The entry of "layers" for a unidirectional recurrence. A cell that differs from lagtape's becomes a cell
/// given by equations, which is added to `cells` under a name that says how it differs.
Json cell_layer(const ForeignCell& cell, const Carry& carry, Json& cells);

/// The entry of "layers" for a per-step map to `units` numbers.
Json dense_layer(const ForeignDense& dense, std::int64_t units, const Carry& carry, Json& cells);

}  // namespace lagtape::foreign
