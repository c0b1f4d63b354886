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

/// The steps of the times of a series.
struct SeriesGrid {
  TimeGrid grid = {};
  bool is_even = true;  ///< false: the usual distance of rows is the step

  /// The time some steps after that of a row.
  Instant after(Instant time, std::int64_t steps) const {
    return is_even ? grid.next(time, steps) : TimeGrid(grid.frequency(), time).time(steps);
  }
};

/// The times of rows.
struct TimeAxis {
  std::vector<Instant> times = {};     ///< [rows]; empty without a column of times
  TimeFormat format = {};              ///< how the file writes times
  TimeZone zone = {};                  ///< the clock of dates and of the calendar
  std::vector<SeriesGrid> grids = {};  ///< one for each series; none where all have one row
  bool are_days = false;               ///< all times are midnights, by that clock
  std::int64_t season = 0;             ///< the period in steps, by an option; 0: by the frequency
  bool has_several_offsets = false;    ///< the dates have offsets from UTC that no zone has; the clock is UTC

  /// Whether the clock is that of a place, which may change.
  bool has_zone() const { return zone.name().find('/') != std::string::npos; }

  /// Whether the times are dates, and not numbers that count from their own beginning.
  bool are_dates() const;
  /// The frequency of all series: without the day or the anchor in which they differ.
  Frequency frequency() const;
  /// The time of the clock, in seconds since 1970 as if it were at UTC.
  double clock_of(Instant time) const { return seconds_of(zone.to_local(time)); }
};

/// An input of a model at every step: a column at the row of the step, or at another one.
struct PanelInput {
  std::int64_t column = 0;
  std::int64_t shift = 0;  ///< rows from the step's row to the row that is read

  std::int64_t row(std::int64_t step) const { return step + shift; }
  bool operator==(const PanelInput&) const = default;
};

/// The rows of a series, and its name.
struct PanelSeries : RowRange {
  /// The cells of the columns that name it, else the name of its file or its number in an array.
  std::vector<std::string> id = {};
  /// The last rows of a file to forecast, in which every target is missing. The first of them have numbers for inputs
  /// that are not targets; unknown ones are NaN.
  std::int64_t future = 0;

  std::string name() const;
  /// The row after the last one with a target.
  std::int64_t origin() const { return end() - future; }
};

/// A user's series, ready to be cut into sequences: the rows of all of them one after the other, with the columns that a
/// model reads and predicts.
struct Panel {
  std::vector<Column> columns = {};
  std::vector<PanelInput> input = {};
  std::vector<std::int64_t> target = {};  ///< columns
  TimeAxis axis = {};
  std::int64_t rows = 0;
  std::vector<PanelSeries> series = {};  ///< one after the other
  /// The columns of `PanelSeries::id`, which name the series in tables of results; empty: one series without a name.
  std::vector<std::string> series_columns = {};
  /// The names of all columns of a table, of the first of several files; empty: they have none.
  std::vector<std::string> names = {};
  std::vector<RowRange> segments = {};         ///< rows between which no time is missing, in their order
  std::vector<std::string> notes = {};         ///< notes for the user, a sentence each
  std::vector<std::string> future_notes = {};  ///< the same of files with the rows that follow

  const Column& column(std::int64_t i) const { return columns[static_cast<std::size_t>(i)]; }
  const PanelInput& input_at(std::int64_t i) const { return input[static_cast<std::size_t>(i)]; }
  const Column& input_column(std::int64_t i) const { return column(input_at(i).column); }
  const Column& target_column(std::int64_t i) const { return column(target[static_cast<std::size_t>(i)]); }
  std::string name_of_input(std::int64_t i) const;
  /// The number of the series of a row.
  std::int64_t series_of(std::int64_t row) const;
  /// A panel of one of the series alone, whose rows count from 0.
  Panel only(std::int64_t which) const;
  /// The time of a row, also of a row after `end`, the end of its segment.
  Instant time_of(std::int64_t row, std::int64_t end) const;
  /// The number of first rows of a segment that are not steps, because their inputs are before it.
  std::int64_t lead() const;
  /// Makes a column an input, at all rows at which a step reads it.
  void add_input(std::int64_t column, const SeriesOptions& options);
};

struct PanelReading {
  /// The targets of the last rows of a .csv file may be missing.
  bool allow_future = false;
  std::filesystem::path future =
      {};  ///< files of the rows after the last, with the inputs that are known ahead: FutureFiles
};

}  // namespace lagtape
