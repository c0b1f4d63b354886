#pragma once

#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {

/// Checks that the ranges of a search fit each other, `plan.set`, and the experiment, which has its
/// defaults filled in: no setting lies in another, every condition is on an existing value that is known before, and no
/// --set is on a setting that is searched.
void check_ranges(const SearchPlan& plan, const Json& experiment, JsonErrors& errors);

}  // namespace lagtape::search
