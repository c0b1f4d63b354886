#pragma once

#include "lagtape/tools/chart/plot.h"

namespace lagtape::table {

/// Whether there is anything to see of a band: somewhere its upper edge is above the lower one.
bool has_width(const PlotBand& band);

/// Says in the legend what the bands around the means are. Without bands nothing changes.
void explain_bands(Plot& plot);

}  // namespace lagtape::table
