#include "lagtape/data/series/csv_times.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <unordered_set>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/series/csv_grids.h"
#include "lagtape/data/series/csv_series.h"
#include "lagtape/data/time/time_detector.h"

namespace lagtape {

namespace {

/// The cell or cells that hold a time, for messages.
std::string text_of_time(const CsvSource& csv, std::int64_t row) {
  std::string text;
  for (const std::int64_t column : csv.time_columns())
    text += text_of(text.empty() ? "" : " ", csv.cell(row, column));
  return text;
}

/// Passes the times of the rows to a detector.
TimeDetector with_rows(TimeDetector detector, const CsvSource& csv, std::int64_t begin, std::int64_t end) {
  const std::vector<std::int64_t> columns = csv.time_columns();
  detector.reserve(static_cast<std::size_t>(end - begin));
  detector.called(csv.table.names_with_units(columns));
  if (columns.size() == 2)
    for (std::int64_t row = begin; row < end; ++row) detector.see_clock(csv.cell(row, columns[1]));
  std::vector<std::string_view> cells(columns.size());
  for (std::int64_t row = begin; row < end; ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i) cells[i] = csv.cell(row, columns[i]);
    columns.size() == 1 ? detector.add(cells[0]) : detector.add(cells);
  }
  return detector;
}

TimeColumn finish(TimeDetector detector, const CsvSource& csv, std::int64_t begin, bool has_format) {
  const std::int64_t column = csv.time_columns()[0];
  try {
    return detector.finish([&](std::int64_t row) { return csv.place(begin + row, column); });
  } catch (const InputError& error) {
    if (has_format) throw;
    throw error.with_hint(R"("time_format" in "data" says how times are written.)");
  }
}

/// Adds the times of the second file's rows, which may be written differently.
void add_future_times(CsvSource& csv, TimeColumn& column) {
  const std::int64_t own = csv.table.rows(), end = csv.all_rows();
  TimeDetector detector = with_rows(TimeDetector(column.format), csv, own, end);
  const bool is_other = !detector.is_possible();
  if (is_other) {
    const DateOrder order = date_order_of(column.format);
    detector = with_rows(TimeDetector(order == DateOrder::automatic ? csv.options.date_order : order), csv,
                         own, end);
  }
  const TimeColumn later = finish(std::move(detector), csv, own, false);
  if (is_other) csv.future_format = later.format.text();
  if (later.format.is_absolute() != column.format.is_absolute())
    throw InputError(
        csv.place(own, csv.time_columns()[0]), Rule::conflict,
        text_of("times are written as ", later.format.text(), ", and those of ", csv.table.where(), " as ",
                column.format.text(), ". Expected an offset from UTC in both or in none."));
  column.times.insert(column.times.end(), later.times.begin(), later.times.end());
}

TimeColumn read_column(CsvSource& csv) {
  const std::string& format = csv.options.time_format;
  const std::int64_t own = csv.table.rows();
  TimeDetector detector =
      format.empty() ? TimeDetector(csv.options.date_order) : TimeDetector(TimeFormat(format));
  TimeColumn column = finish(with_rows(std::move(detector), csv, 0, own), csv, 0, !format.empty());
  if (csv.all_rows() > own) add_future_times(csv, column);
  return column;
}

/// Converts times from a clock without an offset to instants. The rows of each series in a file are ordered
/// separately.
void put_in_zone(const CsvSource& csv, const TimeZone& zone, std::vector<Instant>& times) {
  const std::int64_t own = csv.table.rows(), column = csv.time_columns()[0];
  for (const auto& [begin, end] : {std::pair(std::int64_t{0}, own), std::pair(own, csv.all_rows())})
    for (const std::vector<std::int64_t>& rows : rows_by_series(csv, begin, end)) {
      std::vector<Instant> local;
      for (const std::int64_t row : rows) local.push_back(times[static_cast<std::size_t>(row)]);
      const auto place = [&](std::int64_t i) { return csv.place(rows[static_cast<std::size_t>(i)], column); };
      const std::vector<Instant> instants = zone.to_utc(local, place);
      for (std::size_t i = 0; i < rows.size(); ++i) times[static_cast<std::size_t>(rows[i])] = instants[i];
    }
}

/// " in the series 'b'", if there are several.
std::string of_series(const CsvSource& csv, std::int64_t row) {
  if (csv.ids.size() < 2) return {};
  const PanelSeries series{{}, csv.ids[static_cast<std::size_t>(csv.series_of(row))]};
  return text_of(" in the series ", quote(series.name(), 40));
}

/// Returns the name of the column with the fewest words or numbers that distinguishes all rows with the same
/// time; "" if there is none.
std::string hint_for_duplicates(const CsvSource& csv) {
  const std::vector<std::int64_t> times = csv.time_columns();
  std::vector<std::int64_t> taken = times;
  std::ranges::copy(csv.series_columns(), std::back_inserter(taken));
  std::size_t fewest = static_cast<std::size_t>(csv.table.rows()) / 2 + 1;
  std::string found;
  for (std::int64_t column = 0; column < csv.table.columns() && !csv.table.names().empty(); ++column) {
    if (std::ranges::find(taken, column) != taken.end()) continue;
    std::unordered_set<std::string> keys, cells;
    const auto is_new = [&](std::int64_t row) {
      const auto cell = csv.table.cell(row, column);
      cells.emplace(cell);
      std::string key = text_of(csv.series.empty() ? 0 : csv.series[static_cast<std::size_t>(row)]);
      for (const std::int64_t time : times) key += text_of('\n', csv.table.cell(row, time));
      return cells.size() < fewest && keys.insert(text_of(key, '\n', cell)).second;
    };
    std::int64_t row = 0;
    while (row < csv.table.rows() && is_new(row)) ++row;
    if (row < csv.table.rows()) continue;
    fewest = cells.size();
    found = csv.table.name_of(column);
  }
  if (found.empty()) return {};
  return text_of("The column \"", found,
                 "\" tells them apart: as a second one in \"time\" if it is a time of day, ",
                 "as \"series\" if it names series. ");
}

/// Handles rows with the same time as `duplicates` says. `times` are the times of the sorted rows.
void treat_duplicates(CsvSource& csv, std::vector<Instant>& times) {
  const auto is_alike = [&](std::size_t i) {
    const auto at = static_cast<std::int64_t>(i);
    return times[i] == times[i - 1] && csv.series_of(at) == csv.series_of(at - 1);
  };
  std::size_t first = 1;
  while (first < times.size() && !is_alike(first)) ++first;
  if (first >= times.size()) return;
  std::vector<std::int64_t> order;
  std::vector<Instant> kept;
  std::int64_t removed = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::int64_t row = csv.in_file(static_cast<std::int64_t>(i));
    if (i == 0 || !is_alike(i)) {
      order.push_back(row);
      kept.push_back(times[i]);
      continue;
    }
    const auto at = static_cast<std::int64_t>(i);
    if (csv.options.duplicates == Duplicates::error)
      throw InputError(
          {csv.table.where()}, Rule::conflict,
          text_of("lines ", csv.line(at - 1), " and ", csv.line(at), ": both are of ", text_of_time(csv, at),
                  of_series(csv, at), ", expected one row for each time. ", hint_for_duplicates(csv),
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

/// Reports the clock on which the rows have a constant time of day, if they are a day apart except where that
/// clock shifts.
std::string note_of_days(const CsvSource& csv, const TimeAxis& axis) {
  if (!csv.options.timezone.empty() || axis.grids.front().is_even) return {};
  const std::string zone = zone_of_days(axis.times);
  if (zone.empty()) return {};
  const bool are_midnights = TimeZone::named(zone).to_local(axis.times[0]) % kOneDay == 0;
  return text_of("the times are ", are_midnights ? "midnights of " : "of one time of day by the clock of ",
                 zone, " in UTC: with ",
                 axis.format.is_absolute() ? "" : "times that say so, as in 2024-06-30T22:00Z, and ",
                 "\"timezone\": \"", zone, "\" the rows are days");
}

/// Reports how many gaps there are, and where the first one is.
std::string note_of_gaps(const CsvSource& csv, const std::vector<PanelSeries>& all,
                         const std::vector<GridOfSeries>& grids) {
  std::size_t gaps = 0, first = 0, with_gaps = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<TimeGap>& own = grids[i].found.gaps;
    if (gaps == 0) first = i;
    gaps += own.size();
    with_gaps += own.empty() ? 0 : 1;
  }
  if (gaps == 0) return {};
  std::string note = text_of(", with ", gaps, gaps == 1 ? " gap" : " gaps");
  if (all.size() > 1) note += text_of(" in ", with_gaps, " of the series");
  note += text_of(gaps == 1 ? ", before " : ", the first before ",
                  text_of_time(csv, all[first].first + grids[first].found.gaps.front().row));
  if (all.size() > 1) note += text_of(" of ", quote(all[first].name(), 40));
  return note + (csv.options.across_gaps ? "; windows reach over them (across_gaps)"
                                         : "; no window reaches over one");
}

/// Reports weekdays or times of day without any row, because forecasts do not skip them.
std::string note_of_pattern(const TimeAxis& axis, const std::vector<GridOfSeries>& grids) {
  const Frequency& frequency = axis.grids.front().grid.frequency();
  const bool has_gaps = std::ranges::any_of(grids, [](const auto& one) { return !one.found.gaps.empty(); });
  const bool is_length =
      frequency.unit == Frequency::Unit::local || frequency.unit == Frequency::Unit::nanosecond;
  const bool are_days = frequency.count == kOneDay;
  if (!has_gaps || !axis.grids.front().is_even || !is_length || kOneDay % frequency.count != 0) return {};
  const auto [first, last] = std::ranges::minmax(axis.times);
  constexpr std::int64_t kFewestDays = 5, kFewestWeeks = 3;
  if (last - first < kOneDay * (are_days ? 7 * kFewestWeeks : kFewestDays)) return {};
  std::vector<bool> has_row(static_cast<std::size_t>(are_days ? 7 : kOneDay / frequency.count));
  for (const Instant local : axis.zone.to_local(axis.times)) {
    const std::int64_t place =
        are_days ? weekday_of(floor_div(local, kOneDay)) : floor_mod(local, kOneDay) / frequency.count;
    has_row[static_cast<std::size_t>(place)] = true;
  }
  const auto without = std::ranges::count(has_row, false);
  if (without == 0) return {};
  constexpr const char* kDays[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                   "Friday", "Saturday", "Sunday"};
  std::string days;
  for (std::size_t i = 0; are_days && i < has_row.size(); ++i)
    if (!has_row[i]) days += text_of(days.empty() ? "" : " or ", kDays[i]);
  const std::string where =
      are_days ? "no row is of a " + days
               : text_of("no row is at ", without, " of the ", has_row.size(), " times of day");
  return text_of(where, ": dates of a forecast go on by ", frequency.name(), " and may be such ",
                 are_days ? "days" : "times");
}

std::string note_of(const CsvSource& csv, const TimeAxis& axis, const std::vector<PanelSeries>& all,
                    const std::vector<GridOfSeries>& grids) {
  const SeriesGrid& series = axis.grids.front();
  const Frequency frequency = axis.frequency();
  std::string note = all.size() > 1 ? text_of(all.size(), " series, ") : std::string();
  note += text_of(csv.rows(), " rows, frequency ");
  note += series.is_even ? frequency.name()
                         : text_of("not quite even, usually ", seconds_of(frequency.count), " s");
  if (!csv.options.timezone.empty()) note += text_of(", clock of ", axis.zone.name());
  if (csv.options.timezone.empty() && axis.has_zone())
    note += text_of(", clock of ", axis.zone.name(), ", whose offsets from UTC the times have");
  if (csv.options.timezone.empty() && axis.has_several_offsets)
    note +=
        R"(, offsets from UTC that no one zone has: dates and the calendar are in UTC ("timezone" says another clock))";
  return note + note_of_gaps(csv, all, grids);
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
  order_rows(csv, axis.times);
  const bool was_sorted = !csv.ids.empty() || std::ranges::is_sorted(csv.order);
  treat_duplicates(csv, axis.times);
  panel.series = series_in(csv);
  const TimeCalendar calendar{.zone = axis.zone, .holidays = options.holidays};
  std::vector<GridOfSeries> grids = grids_of(csv, panel.series, axis, calendar);
  if (!grids.empty()) {
    for (const auto& [found, is_even] : grids) axis.grids.push_back({found.grid, is_even});
    panel.notes.push_back(note_of(csv, axis, panel.series, grids));
    if (std::string note = note_of_days(csv, axis); !note.empty()) panel.notes.push_back(std::move(note));
    if (const std::string note = note_of_pattern(axis, grids); !note.empty()) {
      panel.notes.push_back(note);
      panel.future_notes.push_back(note);
    }
    if (!options.across_gaps) panel.segments = segments_between(panel.series, grids);
  }
  if (!was_sorted) panel.notes.emplace_back("rows were sorted by time");
  if (csv.duplicates > 0)
    panel.notes.push_back(text_of(csv.duplicates, csv.duplicates == 1 ? " row" : " rows",
                                  " of a time that another one has: taken by \"duplicates\""));
  panel.axis = std::move(axis);
}

}  // namespace lagtape
