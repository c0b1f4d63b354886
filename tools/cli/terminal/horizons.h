#pragma once

#include <string>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/forecast/horizon_scores.h"

namespace lagtape::cli {

/// A table for each target, of the errors by steps ahead and of those over all steps, and a verdict on the model.
std::string table_of(const HorizonScores& scores);
/// The scores as an object, with the verdict, also as "of_use".
Json json_of(const HorizonScores& scores);

}  // namespace lagtape::cli
