#pragma once

#include "lagtape/tools/analysis/plot.h"

namespace lagtape::table {

/// Says in the legend what the bands around the means are. Without bands nothing changes.
void explain_bands(Plot& plot);

}  // namespace lagtape::table
