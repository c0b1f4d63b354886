#pragma once

#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {

/// Checks that the ranges of a search are consistent with each other, `plan.set`, and the experiment, whose
/// defaults are filled in: no setting lies within another, every condition refers to an existing value that is
/// known earlier, and no
/// --set is on a setting that is searched.
void check_ranges(const SearchPlan& plan, const Json& experiment, JsonErrors& errors);

}  // namespace lagtape::search
