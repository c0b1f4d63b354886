#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/data/series/series_options.h"

namespace lagtape {

/// The rows first .. first + rows - 1.
struct Stretch {
  std::int64_t first = 0, rows = 0;
};

/// A user's recordings, ready to be cut into sequences: the rows of all of them one after the other, with the
/// columns that a model reads and predicts.
struct Recordings {
  Tensor values = {};                                 ///< [rows, columns], f32 or f64
  std::vector<std::int64_t> input = {}, target = {};  ///< columns of `values`
  /// By target: the column in which an input reads the same numbers, those that are missing filled.
  std::vector<std::int64_t> measured = {};
  /// By row and target: whether its number was missing and is made up of others; empty where none is.
  std::vector<bool> is_filled = {};
  /// By input: whether it says if a number of another column was there.
  std::vector<bool> is_mask = {};
  std::vector<bool> is_scaled = {};      ///< by column: a measured number rather than a sine or a 0 or 1
  std::vector<std::string> names = {};   ///< by column; empty when the file names none
  std::vector<Stretch> recordings = {};  ///< the rows of each recording
  std::vector<Stretch> stretches = {};   ///< rows between which no time is missing, in their order
  std::vector<double> times = {};        ///< [rows], seconds since 1970; empty without a column of times
  bool has_dates = false;                ///< the file has dates, not numbers, as times
  bool are_days = false;                 ///< all times are midnights, by the clock of their dates
  bool has_offsets = false;              ///< the dates have offsets from UTC
  std::optional<double> offset = {};  ///< the one that all of them have, in seconds; empty where they differ
  double interval = 1;                ///< seconds from a row to the next; 1 without times
  /// The last rows in which every target is missing, of a file that is read to be forecast. Inputs that are no
  /// targets have numbers there.
  std::int64_t future = 0;
  std::vector<std::string> notes = {};  ///< facts that a user should know, a sentence each

  /// The input whose number a mask says to be there: the masks follow the inputs that are measured.
  std::int64_t masked_by(std::int64_t mask) const { return mask - std::ranges::count(is_mask, true); }
  /// The number of the i-th target in a row as it was measured, NaN where it was not.
  double truth(std::int64_t row, std::int64_t i) const;
};

/// Reads the files that the options name, relative to `base`. With `allow_future` the targets of the last rows of
/// a .csv file may be missing. Throws InputError with the file and, where there is one, the line.
Recordings read_recordings(const SeriesOptions& options, const std::filesystem::path& base,
                           bool allow_future = false);

}  // namespace lagtape
