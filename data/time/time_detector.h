#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/data/time/time_format.h"

namespace lagtape {

struct KnownFormat;

/// The times of a column.
struct TimeColumn {
  TimeFormat format = {};
  /// [rows] Instants if the format is absolute, else local times, which a TimeZone converts to instants.
  std::vector<Instant> times = {};
  /// For an absolute format, its clock: a fixed offset if all rows have it, the zone that matches the offsets
  /// of all rows, else UTC.
  TimeZone zone = {};
  /// Rows have different UTC offsets that match no zone.
  bool has_several_offsets = false;
};

/// The meaning of the first two numbers of a date, if the rows do not settle it.
enum class DateOrder : std::uint8_t { automatic, day_first, month_first };

std::string_view name_of(DateOrder order);  ///< "auto", "day_first", "month_first"
/// The order in a format that has a counterpart with day and month swapped; else automatic.
DateOrder date_order_of(const TimeFormat& format);

/// Finds the one format that fits all texts of a column, and reads them.
class TimeDetector {
 public:
  explicit TimeDetector(DateOrder order = DateOrder::automatic);
  /// Reads only that format.
  explicit TimeDetector(const TimeFormat& only);

  void reserve(std::size_t rows) { expected_ = rows; }
  /// The names of the columns, which determine the unit of plain numbers: the date from which days are counted,
  /// or weeks of a year.
  void called(std::vector<std::string> columns) { columns_ = std::move(columns); }
  /// Adds the time of day of a row, before any other row: bare digits are hours, or hours and minutes if one
  /// has more digits. A column with such a name numbers the half hours, quarter hours or five-minute periods of
  /// a day from 1.
  void see_clock(std::string_view cell);
  /// The start of an interval, as in "01.01.2024 00:00 - 01.01.2024 01:00" and "2024-01-01 00:00-01:00".
  void add(std::string_view text);
  /// A time in several columns: a date and a time of day, or year, month, day, hour, minute and second, as many
  /// as there are. The second column's name may mean a quarter, an ISO week or a day of the year, with no other
  /// day after it.
  void add(std::span<const std::string_view> cells);

  /// Whether some format fits all texts so far. finish may still reject them: numbers that are unlikely to be
  /// times, and ambiguous days and months.
  bool is_possible() const { return refused_ < 0; }
  /// Whether all texts so far are plain numbers, as counters and measurements are.
  bool is_of_numbers() const;
  /// Whether some date format fits all texts so far, such as 01022024, which two formats fit.
  bool is_of_dates() const;

  /// Returns the times. Throws InputError for the first text that fits no format, for numbers that are not
  /// times between 1900 and 2100 in their likely unit, and for offsets in only some rows; also if two formats
  /// fit all rows, no order is given, and it is not exactly one of them that leaves no gap.
  TimeColumn finish(const PlaceOfRow& place);

 private:
  /// A format that fits all texts so far, and its times.
  struct Candidate {
    const KnownFormat* format = nullptr;                   ///< nullptr: plain numbers
    std::uint32_t style = 0;                               ///< bits of TextStyle
    int digits = 0;                                        ///< the most digits in a fraction
    std::int64_t lowest = INT64_MAX, highest = INT64_MIN;  ///< of plain numbers
    std::int64_t differs =
        -1;  ///< the first row that has an offset although the first row has none, or the reverse
    std::vector<OffsetChange> offsets = {};
    std::vector<Instant> times = {};
    std::vector<double> fractions = {};  ///< fractions of plain numbers; empty: all are integers
  };

  void find_clock_intervals(std::string_view second);
  bool join_period(std::string_view cell);
  bool read(Candidate& candidate, std::string_view text) const;
  bool read_date(Candidate& candidate, std::string_view text) const;
  bool read_number(Candidate& candidate, std::string_view text) const;
  Candidate& choose(const PlaceOfRow& place);
  TimeFormat format_of(const Candidate& candidate) const;
  TimeColumn numbers_of(Candidate& candidate, const PlaceOfRow& place) const;
  [[noreturn]] void refuse_text(const PlaceOfRow& place) const;

  DateOrder order_ = DateOrder::automatic;
  std::shared_ptr<const KnownFormat> own_ = {};  ///< the only format of a detector that has just one
  std::string only_ = {};
  std::vector<Candidate> candidates_ = {};
  std::size_t expected_ = 0;
  std::int64_t rows_ = 0, refused_ = -1;  ///< the first row that fits no format
  std::string first_ = {}, text_ = {};    ///< the text of the first row, and of the rejected one
  std::string joined_ = {};
  std::vector<std::string> columns_ = {};
  std::size_t clock_digits_ = 0;
  int last_period_ = 0;  ///< the largest number in a time-of-day column
  bool are_intervals_ = false, are_clock_intervals_ = false;
};

}  // namespace lagtape
