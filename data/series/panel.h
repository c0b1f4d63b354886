#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/data/series/series_options.h"
#include "lagtape/data/table/column.h"

namespace lagtape {

/// The times of rows.
struct TimeAxis {
  std::vector<double> times = {};     ///< [rows], seconds since 1970; empty without a column of times
  bool has_dates = false;             ///< the file has dates, not numbers, as times
  bool are_days = false;              ///< all times are midnights, by the clock of their dates
  bool has_offsets = false;           ///< the dates have offsets from UTC
  std::optional<double> offset = {};  ///< the one that all of them have, in seconds; empty where they differ
  double interval = 1;                ///< seconds from a row to the next; 1 without times
};

/// A number that a model reads at every step: a column at the row of the step, or at another one.
struct PanelInput {
  std::int64_t column = 0;
  std::int64_t shift = 0;  ///< rows from that of the step to the one that is read

  std::int64_t row(std::int64_t step) const { return step + shift; }
  bool operator==(const PanelInput&) const = default;
};

/// A user's series, ready to be cut into sequences: the rows of all of them one after the other, with the columns that a
/// model reads and predicts.
struct Panel {
  std::vector<Column> columns = {};
  std::vector<PanelInput> input = {};
  std::vector<std::int64_t> target = {};  ///< columns
  TimeAxis axis = {};
  std::int64_t rows = 0;
  std::vector<RowRange> series = {};    ///< the rows of each series
  std::vector<RowRange> segments = {};  ///< rows between which no time is missing, in their order
  /// The last rows in which every target is missing, of a file that is read to be forecast. Of inputs that are no targets
  /// the first of them have numbers, and those that are not known are NaN.
  std::int64_t future = 0;
  std::vector<std::string> notes = {};  ///< facts that a user should know, a sentence each

  const Column& column(std::int64_t i) const { return columns[static_cast<std::size_t>(i)]; }
  const PanelInput& input_at(std::int64_t i) const { return input[static_cast<std::size_t>(i)]; }
  const Column& input_column(std::int64_t i) const { return column(input_at(i).column); }
  const Column& target_column(std::int64_t i) const { return column(target[static_cast<std::size_t>(i)]); }
  std::string name_of_input(std::int64_t i) const;
  /// The first rows of a segment that are no steps, as their inputs lie before it.
  std::int64_t lead() const;
  /// Makes a column an input, at all rows at which a step reads it.
  void add_input(std::int64_t column, const SeriesOptions& options);
};

struct PanelReading {
  /// The targets of the last rows of a .csv file may be missing.
  bool allow_future = false;
  std::filesystem::path future =
      {};  ///< a file of the rows after the last, with the inputs that are known ahead
};

}  // namespace lagtape
