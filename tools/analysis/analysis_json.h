#pragma once

#include <string>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/analysis/analysis.h"

namespace lagtape {

/// An analysis as `lagtape analyze --json` prints it. `name` is the experiment's name.
Json json_of(const Analysis& analysis, const std::string& name, const std::string& split);

}  // namespace lagtape
