#pragma once

#include <string>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// The lagtape model that computes the same as a foreign one. Layers that lagtape supports become its own,
/// others cells given by equations. A final map without a function becomes the read-out; otherwise the read-out
/// is the identity. `name` is for the experiment in the model's file. Throws InputError that starts with
/// `where` for layers whose widths do not fit each other, and for non-finite values.
Model lowered(const ForeignModel& foreign, const std::string& name, const std::string& where);

}  // namespace lagtape::foreign
