#include "lagtape/tools/new/time_columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/find_grid.h"
#include "lagtape/data/time/time_detector.h"
#include "lagtape/data/time/time_names.h"
#include "lagtape/data/time/time_zone.h"

namespace lagtape {

namespace {

using Kind = RecordingColumn::Kind;

/// Whether a column has one of some names, in letters of any size.
bool is_called(std::string name, std::initializer_list<std::string_view> names) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(names, std::string_view(name)) != names.end();
}

/// Whether a column is called as hours of the day are.
bool is_called_hour(std::string name) {
  std::ranges::replace(name, '_', ' ');
  const bool is_numbered =
      name.size() == 4 && is_called(name.substr(0, 2), {"he"}) &&
      name.find_first_not_of("0123456789", 2) == name.npos;  // HE01, after its first hour
  return is_numbered || is_called(name, {"hour", "hours", "hr", "hh", "he", "hour ending", "hr end",
                                         "hour end", "stunde", "heure", "hora"});
}

/// The lowest and the highest number of a column.
std::pair<double, double> range_of(const NamedTable& table, std::int64_t column) {
  double lowest = INFINITY, highest = -INFINITY;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const double number = parse_number(table.cell(row, column)).value_or(NAN);
    lowest = std::fmin(lowest, number);
    highest = std::fmax(highest, number);
  }
  return {lowest, highest};
}

/// Whether a column has two rows that are alike.
bool comes_again(const NamedTable& table, std::int64_t column) {
  std::unordered_set<std::string_view> cells;
  for (std::int64_t row = 0; row < table.rows(); ++row)
    if (!cells.insert(table.cell(row, column)).second) return true;
  return false;
}

/// The format of the times at the beginning of a column; nothing where they are numbers, or have none that is known.
std::optional<TimeFormat> first_format(const NamedTable& table, std::int64_t column) {
  constexpr std::int64_t kRows = 50;
  TimeDetector detector;
  for (std::int64_t row = 0; row < std::min(table.rows(), kRows); ++row)
    detector.add(table.cell(row, column));
  if (!detector.is_possible() || detector.is_of_numbers()) return {};
  try {
    return detector.finish([&](std::int64_t row) { return table.place(row, column); }).format;
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace

void note_count(const NamedTable& table, const RecordingColumn& column, const RecordingTimes& times,
                RecordingColumns& found) {
  if (times.count.empty()) return;
  const auto [lowest, highest] = range_of(table, column.index);
  const std::string others = other_counts_of(lowest, highest, count_named(times.format));
  found.notes.push_back(text_of("The numbers of ", quote(column.name), " are taken for ", times.count, ".",
                                others.empty() ? "" : " ", others));
}

void find_decimal_years(const NamedTable& table, RecordingColumns& found) {
  constexpr double kFirstYear = 1500, kLastYear = 2200;
  const auto number = [&](std::int64_t row, std::int64_t column) {
    return parse_number(table.cell(row, column), found.options.decimal).value_or(0);
  };
  // The year of a row: that of its time, or in a table without names the whole number before.
  const auto times = [&]() -> std::optional<RecordingTimes> {
    std::vector<std::int64_t> columns;
    if (found.time.empty() || !found.has_names) return {};
    for (const std::string& name : found.time) columns.push_back(table.column(name));
    return find_times(table, columns, true);
  }();
  for (RecordingColumn& column : found.columns) {
    if (column.kind != Kind::numbers || column.missing > 0 || (!times && column.index == 0)) continue;
    bool has_fraction = false, is_of_rows = true;
    for (std::int64_t row = 0; row < table.rows() && is_of_rows; ++row) {
      const double years = number(row, column.index);
      is_of_rows = years >= kFirstYear && years < kLastYear;
      has_fraction = has_fraction || years != std::floor(years);
      if (!is_of_rows) continue;
      if (times) {
        constexpr double kOneMonth = 0.09, kSecondsAYear = 365.2425 * 86400;
        const double own = 1970 + seconds_of(times->times[static_cast<std::size_t>(row)]) / kSecondsAYear;
        is_of_rows = std::abs(own - years) < kOneMonth;
      } else {
        is_of_rows = std::floor(years) == number(row, 0);
      }
    }
    if (!is_of_rows || !has_fraction) continue;
    column.kind = Kind::other;  // of dates
    column.has_numbers = false;
  }
}

void find_unnamed_parts(const NamedTable& table, RecordingColumns& found) {
  constexpr std::int64_t kYearDigits = 4;
  const auto is_number = [](const RecordingColumn& column) {
    return column.missing == 0 && (column.kind == Kind::numbers || column.kind == Kind::counter);
  };
  if (std::ssize(table.cell(0, 0)) != kYearDigits) return;
  for (const std::size_t count : {std::size_t{3}, std::size_t{2}}) {
    if (found.columns.size() <= count ||
        !std::all_of(found.columns.begin(), found.columns.begin() + static_cast<std::ptrdiff_t>(count),
                     is_number))
      continue;
    std::vector<std::int64_t> columns(count);
    std::iota(columns.begin(), columns.end(), 0);
    const auto times = find_times(table, columns, false);
    if (!times || come_again(times->times)) continue;
    for (std::size_t i = 0; i < count; ++i) found.columns[i].kind = i == 0 ? Kind::time : Kind::clock;
    return;
  }
}

void describe_times(std::vector<Instant> times, RecordingColumns& found) {
  std::ranges::sort(times);
  std::vector<Instant> differences;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i] > times[i - 1]) differences.push_back(times[i] - times[i - 1]);
  if (differences.empty()) return;
  std::ptrdiff_t changes = 0;
  for (std::size_t i = 1; i < differences.size(); ++i)
    changes += differences[i] != differences[i - 1] ? 1 : 0;
  found.is_uneven = 5 * changes > std::ssize(differences);
  const auto middle = differences.begin() + std::ssize(differences) / 2;
  std::ranges::nth_element(differences, middle);
  found.interval = seconds_of(*middle);
  found.has_gaps = false;
  for (std::size_t i = 1; i < times.size(); ++i) {
    constexpr int kFriday = 4;
    const Instant distance = times[i] - times[i - 1];
    const bool is_weekend = *middle == kOneDay && distance == 3 * kOneDay &&
                            weekday_of(floor_div(times[i - 1], kOneDay)) == kFriday;
    found.has_gaps = found.has_gaps || (2 * distance > 3 * *middle && !is_weekend);
  }
}

void find_clock(const NamedTable& table, RecordingColumns& found) {
  const auto is_date = [&](const RecordingColumn& column) {
    if (column.kind != Kind::constant || !found.time.empty() || column.missing > 0)
      return column.kind == Kind::time;
    const auto only = find_times(table, {column.index}, true);
    return only && only->are_dates;
  };
  const auto date = std::ranges::find_if(found.columns, is_date);
  if (date == found.columns.end()) return;
  if (date->kind == Kind::time && !comes_again(table, date->index)) return;
  for (RecordingColumn& column : found.columns) {
    if (&column == &*date || column.missing > 0) continue;
    const bool is_called_so =
        is_called_hour(column.name) || is_called_period(column.name) ||
        (is_time_name(column.name) && !column.has_numbers) ||
        has_word(column.name, {"time", "hhmm", "hhmmss", "uhrzeit", "zeit", "heure", "hora"});
    const bool has_clock =
        !column.has_numbers && table.cell(0, column.index).find(':') != std::string_view::npos;
    if (!is_called_so && !has_clock) continue;
    const auto times = find_times(table, {date->index, column.index}, true);
    if (!times) continue;
    date->kind = Kind::time;
    column.kind = Kind::clock;
    found.time = {date->name, column.name};
    found.time_format.clear();
    describe_times(times->times, found);
    return;
  }
}

void find_parts(const NamedTable& table, RecordingColumns& found) {
  using Names = std::initializer_list<std::string_view>;
  constexpr std::size_t kFewest = 2;
  const Names parts[] = {{"year", "yr", "yyyy", "jahr"}, {"month", "mo", "monat"}, {"day", "tag"},
                         {"hour", "hr", "stunde"},       {"minute", "min"},        {"second", "sec"}};
  constexpr std::size_t kYear = 0, kMonth = 1, kDay = 2, kHour = 3;
  std::vector<RecordingColumn*> columns;
  const auto take = [&](const auto& is) {
    const auto column = std::ranges::find_if(
        found.columns, [&](const RecordingColumn& one) { return one.missing == 0 && is(one); });
    if (column != found.columns.end()) columns.push_back(&*column);
    return column != found.columns.end();
  };
  const auto take_parts = [&](std::size_t begin, std::size_t end) {
    const auto is_next = [&](const RecordingColumn& one) {
      return (one.has_numbers || begin == kMonth) && is_called(one.name, parts[begin]);
    };
    while (begin < end && take(is_next)) ++begin;
    return begin == end;
  };
  const auto is_of_year = [](const RecordingColumn& one) {
    return year_part_called(one.name) != YearPart::month;
  };
  if (!take_parts(kYear, kMonth)) return;
  if (take_parts(kMonth, kDay)) {
    take_parts(kDay, std::size(parts));
  } else if (take(is_of_year) && year_part_called(columns.back()->name) == YearPart::day) {
    take_parts(kHour, std::size(parts));
  }
  if (columns.size() < kFewest) return;
  if (!found.time.empty() && found.time.front() != columns.front()->name) return;
  std::vector<std::int64_t> places;
  for (const RecordingColumn* column : columns) places.push_back(column->index);
  const auto times = find_times(table, places, true);
  if (!times) return;
  found.time.clear();
  found.time_format.clear();
  for (RecordingColumn* column : columns) {
    column->kind = column == columns.front() ? Kind::time : Kind::clock;
    found.time.push_back(column->name);
  }
  describe_times(times->times, found);
}

void refuse_broken_times(const NamedTable& table, const RecordingColumns& found) {
  for (const RecordingColumn& column : found.columns) {
    if ((!is_time_name(column.name) && column.index > 0) || column.kind == Kind::constant) continue;
    const std::optional<TimeFormat> format = first_format(table, column.index);
    std::int64_t dates = 0, other = -1;
    for (std::int64_t row = 0; row < table.rows(); ++row) {
      const std::string_view cell = table.cell(row, column.index);
      if (read_time(cell) || (format && format->read(cell))) {
        ++dates;
      } else if (other < 0) {
        other = row;
      }
    }
    if (other < 0 || 10 * dates < 9 * table.rows()) continue;
    throw InputError(Problem{.place = table.place(other, column.index),
                             .rule = Rule::syntax,
                             .statement = "expected a date, as other rows of the column have",
                             .found = quote(table.cell(other, column.index), 40),
                             .hint = "Rows below the table, such as a total, are to be removed."});
  }
}

void find_own_zone(const RecordingTimes& times, RecordingColumns& found) {
  if (!times.are_absolute) return;
  found.timezone = times.timezone;
  const char* const or_another = ", or of another place whose clock is set at the same time.";
  if (!found.timezone.empty()) {
    found.notes.push_back(text_of("Offsets from UTC change as those of ", found.timezone, or_another));
    return;
  }
  found.timezone = zone_of_days(times.times);
  if (found.timezone.empty()) return;
  const std::int64_t clock = floor_mod(TimeZone::named(found.timezone).to_local(times.times[0]), kOneDay);
  found.notes.push_back(
      clock == 0 ? text_of("The times are midnights of ", found.timezone, " in UTC: rows are its days.")
                 : text_of("The times are of one time of day by the clock of ", found.timezone, or_another));
}

void find_zone(const NamedTable& table, const FoundSeries& series, RecordingColumns& found) {
  if (found.time.empty() || !found.has_names) return;
  std::vector<std::int64_t> columns;
  for (const std::string& name : found.time) columns.push_back(table.column(name));
  const auto times = find_times(table, columns, true);
  if (!times || times->are_absolute) return;
  const std::size_t count =
      series.of.empty() ? 1 : static_cast<std::size_t>(*std::ranges::max_element(series.of)) + 1;
  std::vector<std::vector<Instant>> local(count);
  for (std::size_t row = 0; row < times->times.size(); ++row)
    local[series.of.empty() ? 0 : static_cast<std::size_t>(series.of[row])].push_back(times->times[row]);
  found.timezone = zone_of_clock(local);
  if (found.timezone.empty()) return;
  std::vector<Instant> instants;
  const auto place = [&](std::int64_t row) { return table.place(row, columns[0]); };
  for (const std::vector<Instant>& one : local)
    for (const Instant time : TimeZone::named(found.timezone).to_utc(one, place)) instants.push_back(time);
  describe_times(std::move(instants), found);
  const bool is_set_back = std::ranges::any_of(local, come_again);
  found.notes.push_back(text_of(is_set_back ? "Times that come twice are the hour in autumn"
                                            : "The hour that is missing in spring is that",
                                " by the clock of ", found.timezone,
                                ", or of another place whose clock is set at the same time."));
}

void find_frequency(const NamedTable& table, RecordingColumns& found) {
  std::vector<std::int64_t> columns;
  for (const std::string& name : found.time) columns.push_back(table.column(name));
  auto times = columns.empty() ? std::nullopt : find_times(table, columns, true);
  if (!times) return;
  std::vector<Instant>& all = times->times;
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  try {
    found.frequency = find_grid(all, {}, [](std::int64_t) { return Place(); }).grid.frequency().name();
  } catch (const InputError&) {
    found.frequency.clear();  // They have none.
  }
}

void take_count(const NamedTable& table, RecordingColumns& found) {
  constexpr double kFirstYear = 1500, kLastYear = 2200;
  RecordingColumn& first = found.columns.front();
  const auto number = [&](std::int64_t row) { return parse_number(table.cell(row, 0)).value_or(0); };
  const auto is_year = [&](double x) { return x >= kFirstYear && x <= kLastYear; };
  if (is_year(number(0)) && is_year(number(table.rows() - 1)) && std::abs(number(1) - number(0)) < 1) {
    first.kind = Kind::counter;
    found.notes.push_back(text_of("The column ", quote(first.name),
                                  " looks like years with a fraction, which are no times: ",
                                  "rows are taken as equally spaced. Write it as dates, such as 2024-01."));
    return;
  }
  const std::optional<TimeCount> count = count_called(table.names_with_units({0}).front());
  first.kind = Kind::time;
  found.time = {first.name};
  found.time_format = name_of(count.value_or(TimeCount::seconds));
  if (count) return;
  const auto [lowest, highest] = range_of(table, 0);
  const std::string others = other_counts_of(lowest, highest, {});
  found.notes.push_back(text_of("The column ", quote(first.name), " counts evenly: taken as seconds from a ",
                                "beginning, not as dates, as \"time_format\" says.",
                                others.empty() ? "" : " ", others));
}

}  // namespace lagtape
