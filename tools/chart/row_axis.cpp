#include "lagtape/tools/chart/row_axis.h"

#include <limits>
#include <numeric>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {

RowAxis axis_of_times(std::span<const Instant> times, const std::optional<TimeZone>& clock) {
  RowAxis rows{.axis = {.title = clock ? "time" : "time in seconds"}, .places = {}};
  const PlotClock dates{.zero = times.empty() || !clock ? 0 : times.front(),
                        .zone = clock.value_or(TimeZone())};
  if (clock) rows.axis.clock = dates;
  if (clock && !clock->is_utc()) rows.axis.title += text_of(" (", clock->name(), ")");
  for (const Instant time : times) rows.places.push_back(dates.place(time));
  return rows;
}

RowAxis axis_of_numbers(std::string title, std::int64_t first, std::int64_t rows) {
  RowAxis axis{.axis = {.title = std::move(title)},
               .places = std::vector<double>(static_cast<std::size_t>(rows))};
  std::iota(axis.places.begin(), axis.places.end(), static_cast<double>(first));
  return axis;
}

void break_before(Plot& plot, const std::vector<std::size_t>& rows) {
  const auto insert = [](std::vector<double>& values, std::size_t row, double value) {
    values.insert(values.begin() + static_cast<std::ptrdiff_t>(row), value);
  };
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = rows.size(); i-- > 0;) {
    for (PlotLine& line : plot.lines) {
      insert(line.x, rows[i], line.x[rows[i]]);
      insert(line.y, rows[i], kNone);
    }
    for (PlotBand& band : plot.bands) {
      insert(band.x, rows[i], band.x[rows[i]]);
      insert(band.low, rows[i], kNone);
      insert(band.high, rows[i], kNone);
    }
  }
}

}  // namespace lagtape
