#include "lagtape/data/series/csv_times.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/time/find_grid.h"
#include "lagtape/data/time/time_detector.h"

namespace lagtape {

namespace {

/// The cell or cells of a time, for messages.
std::string text_of_time(const CsvSource& csv, std::int64_t row) {
  std::string text;
  for (const std::int64_t column : csv.time_columns())
    text += text_of(text.empty() ? "" : " ", csv.cell(row, column));
  return text;
}

TimeColumn read_column(const CsvSource& csv) {
  const std::vector<std::int64_t> columns = csv.time_columns();
  const std::string& format = csv.options.time_format;
  TimeDetector detector = format.empty() ? TimeDetector() : TimeDetector(TimeFormat(format));
  detector.reserve(static_cast<std::size_t>(csv.rows()));
  for (std::int64_t row = 0; row < csv.rows(); ++row) {
    if (columns.size() == 1) {
      detector.add(csv.cell(row, columns[0]));
    } else {
      detector.add(csv.cell(row, columns[0]), csv.cell(row, columns[1]));
    }
  }
  try {
    return detector.finish([&](std::int64_t row) { return csv.place(row, columns[0]); });
  } catch (const InputError& error) {
    if (!format.empty()) throw;
    throw error.with_hint(R"("time_format" in "data" says how times are written.)");
  }
}

/// Makes instants of the times that a clock without an offset shows. The rows of each file have an order of their own.
void put_in_zone(const CsvSource& csv, const TimeZone& zone, std::vector<Instant>& times) {
  const auto first = static_cast<std::size_t>(csv.table.rows());
  const std::int64_t column = csv.time_columns()[0];
  const std::span<const Instant> local = times;
  std::vector<Instant> all;
  for (const auto& [begin, part] :
       {std::pair(std::size_t{0}, local.first(first)), std::pair(first, local.subspan(first))}) {
    if (part.empty()) continue;
    const auto place = [&, begin = begin](std::int64_t row) {
      return csv.place(static_cast<std::int64_t>(begin) + row, column);
    };
    const std::vector<Instant> instants = zone.to_utc(part, place);
    all.insert(all.end(), instants.begin(), instants.end());
  }
  times = std::move(all);
}

/// Treats rows of one time as `duplicates` says. `times` are those of the rows in their order.
void treat_duplicates(CsvSource& csv, std::vector<Instant>& times) {
  if (std::ranges::adjacent_find(times) == times.end()) return;
  std::vector<std::int64_t> order;
  std::vector<Instant> kept;
  std::int64_t removed = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::int64_t row = csv.in_file(static_cast<std::int64_t>(i));
    if (kept.empty() || kept.back() != times[i]) {
      order.push_back(row);
      kept.push_back(times[i]);
      continue;
    }
    const auto at = static_cast<std::int64_t>(i);
    if (csv.options.duplicates == Duplicates::error)
      throw InputError({csv.table.where()}, Rule::conflict,
                       text_of("lines ", csv.line(at - 1), " and ", csv.line(at), ": both are of ",
                               text_of_time(csv, at), ", expected one row for each time. ",
                               R"("duplicates": "first", "last" or "mean" takes one. Where clocks are set )",
                               R"(back, "timezone" makes such hours two times, as does an offset: )",
                               "2024-10-27T02:00+01:00."));
    if (csv.options.duplicates == Duplicates::last) order.back() = row;
    if (csv.options.duplicates == Duplicates::mean) csv.alike[order.back()].push_back(row);
    ++removed;
  }
  csv.order = std::move(order);
  times = std::move(kept);
  csv.duplicates = removed;
}

/// Puts the rows in their order. Those of the second file that the first one has are left out.
void sort_rows(CsvSource& csv, std::vector<Instant>& times) {
  if (csv.all_rows() == csv.table.rows() && std::ranges::is_sorted(times)) return;
  std::vector<std::int64_t> order(times.size());
  std::iota(order.begin(), order.end(), 0);
  const auto time_of = [&](std::int64_t row) { return times[static_cast<std::size_t>(row)]; };
  const Instant last = *std::max_element(times.begin(), times.begin() + csv.table.rows());
  std::erase_if(order, [&](std::int64_t row) { return row >= csv.table.rows() && time_of(row) <= last; });
  std::ranges::stable_sort(order, {}, time_of);
  std::vector<Instant> sorted;
  sorted.reserve(order.size());
  for (const std::int64_t row : order) sorted.push_back(time_of(row));
  times = std::move(sorted);
  csv.order = std::move(order);
}

// ---- frequency ----

/// Steps of the usual distance of rows, the mean of those near the median, with a gap where one is much larger.
FoundGrid uneven_grid(const std::vector<Instant>& times, const TimeCalendar& calendar) {
  std::vector<std::int64_t> steps;
  for (std::size_t i = 1; i < times.size(); ++i) steps.push_back(times[i] - times[i - 1]);
  std::vector<TimeGap> gaps;
  std::vector<std::int64_t> sorted = steps;
  const auto middle = sorted.begin() + std::ssize(sorted) / 2;
  std::ranges::nth_element(sorted, middle);
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool is_gap = steps[i] > *middle + *middle / 2;
    if (is_gap) gaps.push_back({static_cast<std::int64_t>(i) + 1, steps[i] / *middle});
    if (is_gap || steps[i] <= *middle / 2) continue;
    sum += static_cast<double>(steps[i]);
    count += 1;
  }
  const std::int64_t usual = std::llround(sum / count);
  return {.grid = TimeGrid({.unit = Frequency::Unit::nanosecond, .count = usual}, times[0], calendar),
          .gaps = std::move(gaps)};
}

/// Whether the distances of rows are one and the same but for the errors of a clock, or rounded: no row is nearer to another
/// than to its own step, and few steps are missing.
bool is_jitter(const std::vector<Instant>& times, const FoundGrid& found) {
  const std::int64_t usual = found.grid.frequency().count;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i] - times[i - 1] <= usual / 2) return false;
  return 10 * found.gaps.size() <= times.size();
}

/// Throws InputError for rows of another frequency than the one that is expected, with both.
[[noreturn]] void refuse_frequency(const CsvSource& csv, const std::string& found) {
  throw InputError(Problem{
      .place = {csv.table.where()},
      .rule = Rule::conflict,
      .found = found,
      .expected = text_of("rows of the frequency ", csv.options.frequency),
      .hint = R"(Rows of any frequency are taken with --frequency any, or "frequency": "any" in "data".)"});
}

/// The grid of the rows, and whether they lie on it.
std::pair<FoundGrid, bool> grid_of(const CsvSource& csv, const std::vector<Instant>& times,
                                   const TimeCalendar& calendar) {
  const auto place = [&](std::int64_t row) { return csv.place(row, csv.time_columns()[0]); };
  const std::string& wanted = csv.options.frequency;
  const bool is_given = wanted != "auto" && wanted != "any";
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
        throw error;
      }
      refuse_frequency(csv, found);
    }
    if (is_jitter(times, usual)) return {std::move(usual), false};
    throw error.with_hint(R"(Rows that are not evenly spaced are taken with "frequency": "any" in "data".)");
  }
}

std::vector<RowRange> segments_between(const std::vector<TimeGap>& gaps, std::int64_t rows) {
  std::vector<RowRange> segments = {{0, rows}};
  for (const TimeGap& gap : gaps) {
    segments.back().rows = gap.row - segments.back().first;
    segments.push_back({gap.row, rows - gap.row});
  }
  return segments;
}

std::string note_of(const CsvSource& csv, const TimeAxis& axis, const std::vector<TimeGap>& gaps) {
  const SeriesGrid& series = axis.grids.front();
  const Frequency& frequency = series.grid.frequency();
  std::string note = text_of(csv.rows(), " rows, frequency ");
  note += series.is_even ? frequency.name()
                         : text_of("not quite even, usually ", seconds_of(frequency.count), " s");
  if (!csv.options.timezone.empty()) note += text_of(", clock of ", axis.zone.name());
  if (!gaps.empty())
    note += text_of(
        ", with ", gaps.size(), gaps.size() == 1 ? " gap, before " : " gaps, the first before ",
        text_of_time(csv, gaps.front().row),
        csv.options.across_gaps ? "; windows reach over them (across_gaps)" : "; no window reaches over one");
  return note;
}

}  // namespace

void read_times(CsvSource& csv, Panel& panel) {
  const SeriesOptions& options = csv.options;
  TimeColumn column = read_column(csv);
  TimeAxis axis{
      .format = column.format, .zone = column.zone, .has_several_offsets = column.has_several_offsets};
  if (!options.timezone.empty()) {
    axis.zone = TimeZone::named(options.timezone);
    if (!column.format.is_absolute()) put_in_zone(csv, axis.zone, column.times);
  }
  axis.times = std::move(column.times);
  sort_rows(csv, axis.times);
  const bool was_sorted = std::ranges::is_sorted(csv.order);
  treat_duplicates(csv, axis.times);
  const TimeCalendar calendar{.zone = axis.zone, .holidays = options.holidays};
  const bool is_found = options.frequency == "auto" || options.frequency == "any";
  if (csv.rows() > 1 || !is_found) {
    auto [found, is_even] = grid_of(csv, axis.times, calendar);
    axis.grids.push_back({std::move(found.grid), is_even});
    panel.notes.push_back(note_of(csv, axis, found.gaps));
    if (!options.across_gaps) panel.segments = segments_between(found.gaps, csv.rows());
  }
  if (!was_sorted) panel.notes.emplace_back("rows were sorted by time");
  if (csv.duplicates > 0)
    panel.notes.push_back(text_of(csv.duplicates, csv.duplicates == 1 ? " row" : " rows",
                                  " of a time that another one has: taken by \"duplicates\""));
  panel.axis = std::move(axis);
}

}  // namespace lagtape
