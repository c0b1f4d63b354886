#pragma once

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/exchange/export/step_names.h"

namespace lagtape {

/// What the numbers of a model's step are, in order, as far as its experiment specifies: columns, masks, words
/// and calendar terms, targets, classes.
StepNames step_names_of(const Model& model);

}  // namespace lagtape
