#pragma once

#include <string>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// The model that computes the same as a foreign one. Layers that lagtape has become its own, others cells by
/// equations. The last map without a function is the read-out; without one it is the identity. `name` is for the
/// experiment in the model's file. Throws InputError that begins with `where` for layers whose widths do not fit each
/// other, and for values that are not finite.
Model lowered(const ForeignModel& foreign, const std::string& name, const std::string& where);

}  // namespace lagtape::foreign
