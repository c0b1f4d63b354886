#include "lagtape/data/series/csv_grids.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape {

namespace {

/// Steps of the usual distance between rows, the mean of those near the median, with a gap where one is much
/// larger.
FoundGrid uneven_grid(std::span<const Instant> times, const TimeCalendar& calendar) {
  std::vector<std::int64_t> steps;
  for (std::size_t i = 1; i < times.size(); ++i) steps.push_back(times[i] - times[i - 1]);
  std::vector<TimeGap> gaps;
  std::vector<std::int64_t> sorted = steps;
  const auto middle = sorted.begin() + std::ssize(sorted) / 2;
  std::ranges::nth_element(sorted, middle);
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool is_gap = steps[i] - *middle > *middle / 2;
    if (is_gap) gaps.push_back({static_cast<std::int64_t>(i) + 1, steps[i] / *middle});
    if (is_gap || steps[i] <= *middle / 2) continue;
    sum += static_cast<double>(steps[i]);
    count += 1;
  }
  std::int64_t usual = std::llround(sum / count);
  const auto is_at_one_hour = [&](std::int64_t step) { return step % kOneDay == 0; };
  if (std::ranges::all_of(steps, is_at_one_hour))  // Future rows are at that time of day, too.
    usual = std::max<std::int64_t>((usual + kOneDay / 2) / kOneDay, 1) * kOneDay;
  return {.grid = TimeGrid({.unit = Frequency::Unit::nanosecond, .count = usual}, times[0], calendar),
          .gaps = std::move(gaps)};
}

/// Whether the distances between rows are equal up to clock errors or rounding: each row is nearest to its own
/// step, and few steps are missing.
bool is_jitter(std::span<const Instant> times, const FoundGrid& found) {
  const std::int64_t usual = found.grid.frequency().count;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i] - times[i - 1] <= usual / 2) return false;
  return 10 * found.gaps.size() <= times.size();
}

/// Throws InputError for rows whose frequency differs from the expected one, reporting both.
[[noreturn]] void refuse_frequency(const CsvSource& csv, const std::string& found) {
  throw InputError(Problem{
      .place = {csv.table.where()},
      .rule = Rule::conflict,
      .found = found,
      .expected = text_of("rows of the frequency ", csv.options.frequency),
      .hint = R"(Rows of any frequency are taken with --frequency any, or "frequency": "any" in "data".)"});
}

/// Whether the options set the frequency.
bool names_frequency(const SeriesOptions& options) {
  return options.frequency != "auto" && options.frequency != "any";
}

/// The step numbers of a series' times.
PlaceOfRow places_of(const CsvSource& csv, const RowRange& series) {
  return [&csv, first = series.first](std::int64_t row) {
    return csv.place(first + row, csv.time_columns()[0]);
  };
}

/// With so few rows, the frequency may differ from what their distances suggest.
constexpr std::size_t kFewRows = 4;

GridOfSeries grid_of(const CsvSource& csv, const RowRange& series, std::span<const Instant> times,
                     const TimeCalendar& calendar, bool may_be_rare = false) {
  const PlaceOfRow place = places_of(csv, series);
  const std::string& wanted = csv.options.frequency;
  const bool is_given = names_frequency(csv.options);
  check_distances(times, calendar, place);
  try {
    if (is_given) return {fit_grid(Frequency::parse(wanted), times, calendar, place), true};
    return {find_grid(times, calendar, place), true};
  } catch (const InputError& error) {
    if (times.size() < 2) throw;
    FoundGrid usual = uneven_grid(times, calendar);
    const std::int64_t step = usual.grid.frequency().count;
    if (wanted == "any") return {std::move(usual), false};
    if (is_given) {
      const Frequency given = Frequency::parse(wanted);
      const bool is_near =
          given.unit == Frequency::Unit::nanosecond && 50 * std::abs(step - given.count) <= step;
      if (is_near && is_jitter(times, usual)) return {std::move(usual), false};
      std::string found;
      try {
        found = find_grid(times, calendar, place).grid.frequency().name();
      } catch (const InputError&) {
        if (may_be_rare) return {fit_grid(given, times, calendar, place, true), true};
        throw error;
      }
      if (may_be_rare && times.size() <= kFewRows)
        return {fit_grid(given, times, calendar, place, true), true};
      refuse_frequency(csv, found);
    }
    if (is_jitter(times, usual)) return {std::move(usual), false};
    throw error.with_hint(R"(Rows that are not evenly spaced are taken with "frequency": "any" in "data".)");
  }
}

/// The grid of a series in which no two rows are one step of the panel's frequency apart: its rows' own grid,
/// if they have a frequency, else the panel's.
GridOfSeries rare_grid(const CsvSource& csv, const PanelSeries& series, std::span<const Instant> times,
                       const TimeGrid& grid, const Frequency& wanted) {
  const auto rare = [&]() -> std::optional<GridOfSeries> {
    try {
      return GridOfSeries{fit_grid(wanted, times, grid.calendar(), places_of(csv, series), true)};
    } catch (const InputError&) {
      return {};
    }
  };
  if (times.size() <= kFewRows)
    if (auto few = rare()) return *few;
  try {
    return grid_of(csv, series, times, grid.calendar());
  } catch (const InputError&) {
    if (auto own = rare()) return *own;
    throw;
  }
}

/// The grid of a series with the same frequency as another one, `of`. Throws InputError if its frequency
/// differs.
GridOfSeries same_grid(const CsvSource& csv, const PanelSeries& series, std::span<const Instant> times,
                       const PanelSeries& of, const TimeGrid& grid) {
  const PlaceOfRow place = places_of(csv, series);
  Frequency wanted = grid.frequency().with_anchor(-1);
  if (wanted.unit == Frequency::Unit::month && wanted.day <= Frequency::kLastDay) wanted.day = 0;
  try {
    return {fit_grid(wanted, times, grid.calendar(), place)};
  } catch (const InputError& error) {
    if (times.size() < 2) throw;
    GridOfSeries own = rare_grid(csv, series, times, grid, wanted);
    const Frequency& found = own.found.grid.frequency();
    const bool is_near = !own.is_even && wanted.unit == Frequency::Unit::nanosecond &&
                         50 * std::abs(found.count - wanted.count) <= wanted.count;
    if (is_near || (own.is_even && found.same_steps(wanted))) return own;
    throw InputError(Problem{.place = place(0),
                             .rule = Rule::conflict,
                             .found = text_of(found.name(), " in the series ", quote(series.name(), 40)),
                             .expected = text_of("the frequency of the series ", quote(of.name(), 40), ", ",
                                                 grid.frequency().name()),
                             .hint = R"("frequency": "any" takes series of any.)"});
  }
}

}  // namespace

std::vector<GridOfSeries> grids_of(const CsvSource& csv, const std::vector<PanelSeries>& all,
                                   const TimeAxis& axis, const TimeCalendar& calendar) {
  const auto longest = std::ranges::max_element(all, {}, &PanelSeries::rows);
  if (longest->rows < 2 && !names_frequency(csv.options)) return {};
  const auto times_of = [&](const RowRange& series) {
    return std::span(axis.times)
        .subspan(static_cast<std::size_t>(series.first), static_cast<std::size_t>(series.rows));
  };
  const bool are_several = all.size() > 1;
  const GridOfSeries first = grid_of(csv, *longest, times_of(*longest), calendar, are_several);
  const bool is_shared = csv.options.frequency == "auto" && first.is_even;
  std::vector<GridOfSeries> grids;
  for (const PanelSeries& series : all) {
    if (&series == &*longest) {
      grids.push_back(first);
    } else if (is_shared) {
      grids.push_back(same_grid(csv, series, times_of(series), *longest, first.found.grid));
    } else if (series.rows > 1 || names_frequency(csv.options)) {
      grids.push_back(grid_of(csv, series, times_of(series), calendar, are_several));
    } else {
      const Frequency& frequency = first.found.grid.frequency();
      grids.push_back({{TimeGrid(frequency, times_of(series)[0], calendar), {}}, first.is_even});
    }
  }
  const auto is_rare = [&](const GridOfSeries& one) {
    const auto at = static_cast<std::size_t>(&one - grids.data());
    return std::ssize(one.found.gaps) == all[at].rows - 1;
  };
  if (names_frequency(csv.options) && std::ranges::all_of(grids, is_rare))
    grid_of(csv, *longest, times_of(*longest), calendar);  // which refuses it
  return grids;
}

std::vector<RowRange> segments_between(const std::vector<PanelSeries>& all,
                                       const std::vector<GridOfSeries>& grids) {
  std::vector<RowRange> segments;
  for (std::size_t i = 0; i < all.size(); ++i) {
    segments.push_back(all[i]);
    for (const TimeGap& gap : grids[i].found.gaps) {
      const std::int64_t at = all[i].first + gap.row;
      segments.back().rows = at - segments.back().first;
      segments.push_back({at, all[i].end() - at});
    }
  }
  return segments;
}

}  // namespace lagtape
