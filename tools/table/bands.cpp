#include "lagtape/tools/table/bands.h"

namespace lagtape::table {

void explain_bands(Plot& plot) {
  if (plot.bands.empty()) return;
  // One entry stands for the bands of all lines, which differ in their colours alone.
  plot.bands.front().name = "one standard deviation over the seeds";
}

}  // namespace lagtape::table
