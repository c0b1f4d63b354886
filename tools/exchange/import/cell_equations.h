#pragma once

#include <string>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// Inputs of the model that a layer gives on behind its output, for a skip connection to the outputs.
struct Carry {
  std::int64_t count = 0;  ///< how many; 0: none
  bool from_inputs =
      false;  ///< they are the first of the layer's inputs, which are the model's; else the last
};

/// The entry of "layers" for a recurrence in one direction. A cell that is not one of lagtape's own, number for
/// number, becomes a cell by equations, which is added to `cells` under a name that says how it differs.
Json cell_layer(const ForeignCell& cell, const Carry& carry, Json& cells);

/// The entry of "layers" for a map of every step to `units` numbers.
Json dense_layer(const ForeignDense& dense, std::int64_t units, const Carry& carry, Json& cells);

}  // namespace lagtape::foreign
