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

/// A user's recordings, ready to be cut into sequences: the rows of all of them one after the other, with the
/// columns that a model reads and predicts.
struct Recordings {
  std::vector<Column> columns = {};
  std::vector<std::int64_t> input = {}, target = {};  ///< columns
  TimeAxis axis = {};
  std::int64_t rows = 0;
  std::vector<RowRange> recordings = {};  ///< the rows of each recording
  std::vector<RowRange> segments = {};    ///< rows between which no time is missing, in their order
  /// The last rows in which every target is missing, of a file that is read to be forecast. Inputs that are no
  /// targets have numbers there.
  std::int64_t future = 0;
  std::vector<std::string> notes = {};  ///< facts that a user should know, a sentence each

  const Column& column(std::int64_t i) const { return columns[static_cast<std::size_t>(i)]; }
  const Column& input_column(std::int64_t i) const { return column(input[static_cast<std::size_t>(i)]); }
  const Column& target_column(std::int64_t i) const { return column(target[static_cast<std::size_t>(i)]); }
};

/// Reads the files that the options name, relative to `base`. With `allow_future` the targets of the last rows of
/// a .csv file may be missing. Throws InputError with the file and, where there is one, the line.
Recordings read_recordings(const SeriesOptions& options, const std::filesystem::path& base,
                           bool allow_future = false);

}  // namespace lagtape
