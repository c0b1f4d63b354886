#pragma once

#include <string>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// How a command is told where the data of an experiment (its document) are now, as a line that ends a message. Empty
/// when all of their files and folders are there.
std::string advice_on_missing_data(const Json& experiment);

/// Makes the message about data that are not there end with that advice.
void advise_on_missing_data(Experiment& experiment);

}  // namespace lagtape
