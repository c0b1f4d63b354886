#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/data/series/series_options.h"
#include "lagtape/data/table/column.h"
#include "lagtape/data/time/time_format.h"
#include "lagtape/data/time/time_grid.h"

namespace lagtape {

/// The time grid of a series.
struct SeriesGrid {
  TimeGrid grid = {};
  bool is_even = true;  ///< false: the step is the usual distance between rows

  /// The time some steps after the time of a row.
  Instant after(Instant time, std::int64_t steps) const {
    return is_even ? grid.next(time, steps) : TimeGrid(grid.frequency(), time).time(steps);
  }
};

/// The times of the rows.
struct TimeAxis {
  std::vector<Instant> times = {};     ///< [rows]; empty without a time column
  TimeFormat format = {};              ///< how the file writes times
  TimeZone zone = {};                  ///< the clock for dates and the calendar
  std::vector<SeriesGrid> grids = {};  ///< one per series; none if each has one row
  bool are_days = false;               ///< all times are midnights on that clock
  std::int64_t season = 0;             ///< the period in steps, if an option sets it; 0: from the frequency
  bool has_several_offsets = false;    ///< the dates have UTC offsets that match no zone; the clock is UTC

  /// Whether the clock is a place's, whose offset may change.
  bool has_zone() const { return zone.name().find('/') != std::string::npos; }

  /// Whether the times are dates, rather than numbers that count from an origin of their own.
  bool are_dates() const;
  /// The frequency of all series, without the day or anchor in which they differ.
  Frequency frequency() const;
  /// The clock's time, in seconds since 1970 as if it were UTC.
  double clock_of(Instant time) const { return seconds_of(zone.to_local(time)); }
};

/// An input of a model at every step: a column at the step's row, or at another row.
struct PanelInput {
  std::int64_t column = 0;
  std::int64_t shift = 0;  ///< rows from the step's row to the row that is read

  std::int64_t row(std::int64_t step) const { return step + shift; }
  bool operator==(const PanelInput&) const = default;
};

/// The rows of a series, and its name.
struct PanelSeries : RowRange {
  /// The cells of the columns that name it, else its file name or its number in an array.
  std::vector<std::string> id = {};
  /// The last rows of a file, in which every target is missing, to be forecast. The first of them have numbers
  /// for inputs that are not targets; unknown values are NaN.
  std::int64_t future = 0;

  std::string name() const;
  /// The row after the last one with a target.
  std::int64_t origin() const { return end() - future; }
};

/// A user's series, ready to be cut into sequences: the rows of all series one after the other, with the
/// columns that a model reads and predicts.
struct Panel {
  std::vector<Column> columns = {};
  std::vector<PanelInput> input = {};
  std::vector<std::int64_t> target = {};  ///< columns
  TimeAxis axis = {};
  std::int64_t rows = 0;
  std::vector<PanelSeries> series = {};  ///< one after the other
  /// The columns of `PanelSeries::id`, which name the series in result tables; empty: one unnamed series.
  std::vector<std::string> series_columns = {};
  /// The names of all columns of a table (the first of several files); empty: they have none.
  std::vector<std::string> names = {};
  std::vector<RowRange> segments = {};         ///< ranges of rows without missing times, in order
  std::vector<std::string> notes = {};         ///< notes for the user, one sentence each
  std::vector<std::string> future_notes = {};  ///< the same for files of following rows

  const Column& column(std::int64_t i) const { return columns[static_cast<std::size_t>(i)]; }
  const PanelInput& input_at(std::int64_t i) const { return input[static_cast<std::size_t>(i)]; }
  const Column& input_column(std::int64_t i) const { return column(input_at(i).column); }
  const Column& target_column(std::int64_t i) const { return column(target[static_cast<std::size_t>(i)]); }
  std::string name_of_input(std::int64_t i) const;
  /// The number of the series of a row.
  std::int64_t series_of(std::int64_t row) const;
  /// A panel of only one of the series, with rows counted from 0.
  Panel only(std::int64_t which) const;
  /// The time of a row, which may lie after `end`, the end of its segment.
  Instant time_of(std::int64_t row, std::int64_t end) const;
  /// The number of rows at the start of a segment that are not steps because their inputs would lie before it.
  std::int64_t lead() const;
  /// Makes a column an input, at every row offset at which a step reads it.
  void add_input(std::int64_t column, const SeriesOptions& options);
};

struct PanelReading {
  /// The targets in the last rows of a .csv file may be missing.
  bool allow_future = false;
  std::filesystem::path future =
      {};  ///< files of the following rows, with the inputs that are known ahead: FutureFiles
};

}  // namespace lagtape
