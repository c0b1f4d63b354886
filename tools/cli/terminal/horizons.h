#pragma once

#include <string>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/forecast/horizon_scores.h"

namespace lagtape::cli {

/// For each target, a table of errors by number of steps ahead and over all steps, and a verdict on the model.
std::string table_of(const HorizonScores& scores);
/// The scores as an object, with the verdict, including "of_use".
Json json_of(const HorizonScores& scores);

}  // namespace lagtape::cli
