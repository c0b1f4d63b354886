#include "lagtape/data/series/fill.h"

#include <algorithm>
#include <cmath>

namespace lagtape {

bool fill_missing(std::span<double> column, Missing missing) {
  const auto is_number = [](double value) { return !std::isnan(value); };
  auto before = std::ranges::find_if(column, is_number);
  if (before == column.end()) return false;
  std::fill(column.begin(), before, *before);
  while (true) {
    const auto hole = std::find_if_not(before, column.end(), is_number);
    if (hole == column.end()) return true;
    const auto after = std::find_if(hole, column.end(), is_number);
    const auto last = hole - 1;
    const double slope = missing == Missing::interpolate && after != column.end()
                             ? (*after - *last) / static_cast<double>(after - last)
                             : 0;
    for (auto at = hole; at != after; ++at) *at = *last + slope * static_cast<double>(at - last);
    if (after == column.end()) return true;
    before = after;
  }
}

}  // namespace lagtape
