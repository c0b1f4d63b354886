#include "lagtape/tools/sweep/table/bands.h"

namespace lagtape::table {

bool has_width(const PlotBand& band) {
  for (std::size_t i = 0; i < band.x.size(); ++i)
    if (band.low[i] < band.high[i]) return true;
  return false;
}

void explain_bands(Plot& plot) {
  if (plot.bands.empty()) return;
  // One entry stands for the bands of all lines, which differ in their colours alone.
  plot.bands.front().name = "one standard deviation over the seeds";
}

}  // namespace lagtape::table
