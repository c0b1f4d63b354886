#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/json/json.h"
#include "lagtape/data/table/column.h"
#include "lagtape/data/table/table_options.h"
#include "lagtape/data/task.h"
#include "lagtape/data/time/time_detector.h"

namespace lagtape {

/// The treatment of cells without a number: an error, a straight line between the numbers around them, the last
/// number before them, or that and a further input, whether a number was there.
enum class Missing : std::uint8_t { error, interpolate, hold, mask };

/// The treatment of rows with the same time: an error, the first or the last of them, or the mean of their numbers.
enum class Duplicates : std::uint8_t { error, first, last, mean };

/// How several series become training, validation and test set: as whole series, or each in time.
enum class SplitBy : std::uint8_t { series, time };

/// The simple model whose residual the network learns: none, the target a season before, or a linear
/// regression.
enum class Residual : std::uint8_t { none, seasonal, linear };

/// The rows that scale the numbers of a column: none, the training rows of all series, those of each series,
/// or the better of the two.
enum class ScaleBy : std::uint8_t { nothing, all, series, best };

/// How often windows of training come: all equally often, or the windows of each series together equally often.
enum class WeightBy : std::uint8_t { row, series };

/// A column of words, each of which becomes an input that is 1 in the rows with that word and else 0.
struct Category {
  std::string column;
  std::vector<std::string> values;
};

/// A column as an experiment names it, and its role in the model.
struct InputColumn {
  Json column;  ///< its name, or its number
  ColumnRole role = ColumnRole::past;
};

/// How a user's recordings are read and cut into sequences: the options of the task "series".
struct SeriesOptions {
  std::vector<std::string>
      paths;  ///< files, each one or several recordings; a last part with a * means all such files
  bool lists_paths = false;  ///< `paths` is written as a list even if there is one
  std::string array;
  TableOptions table;  ///< how .csv files are written
  /// The column of times, or those of dates and times of day; none: there are no times.
  std::vector<std::string> time;
  std::vector<std::string> series;  ///< the columns that name the series of a row; none: each file is one
  std::string time_format;          ///< that of TimeFormat; empty: found from the rows
  DateOrder date_order = DateOrder::automatic;
  std::string timezone;                ///< the clock of times without an offset; empty: UTC
  std::string frequency = "auto";      ///< that of Frequency, "auto": found from the rows, or "any"
  std::vector<std::int64_t> holidays;  ///< days since 1970 that are not business days
  Duplicates duplicates = Duplicates::error;
  // Columns by their role in the model: lists of names and numbers, or null.
  Json past, target, future, fixed;
  bool says_input = false;  ///< `past` is written as "input", which may name targets
  std::optional<bool> past_target =
      {};  ///< targets are inputs too; empty: those that "input" names, all without it
  std::vector<Category> categories;   ///< among the input columns
  std::vector<std::string> calendar;  ///< inputs that are made from the time, in the order of kCalendar
  Missing missing = Missing::error;
  bool across_gaps = false;
  std::int64_t window = 1, horizon = 1;
  std::int64_t stride = 0;  ///< 0: chosen from the number of rows
  bool every_step = false;
  ScaleBy normalize = ScaleBy::best, normalize_target = ScaleBy::best;
  bool real_loss = true;  ///< as in TaskHints; with a loss of classes, scaled targets are an error
  bool counts = false;    ///< as in TaskHints
  WeightBy weight = WeightBy::row;
  SplitBy split = SplitBy::time;
  double train = 0.7, valid = 0.15, test = 0.15;
  Residual residual = Residual::none;
  std::int64_t season = 0;  ///< steps after which the numbers repeat; 0: as the frequency says
  std::int64_t batch = 1;   ///< train.batch, on which the choice of the stride depends

  /// The files, as messages name them.
  std::string where() const;
  /// Whether no key names the columns to read: all are read.
  bool reads_all() const { return past.is_null() && future.is_null() && fixed.is_null(); }
  /// Whether "input" is []: a model of time alone reads one input, which is always 0.
  bool reads_nothing() const;
  /// Whether an input column is one of words.
  bool is_category(const Json& column) const;
  /// The input columns in their order; none if all are read.
  std::vector<InputColumn> inputs() const;
  /// The rows at which the step of a row reads a column, relative to that row: the one alignment of all inputs, in
  /// training, forecasts and streams. The step predicts the row `horizon` rows later.
  std::vector<std::int64_t> shifts_of(ColumnRole role) const;
  /// The inputs in their order, if the options alone decide them, else none: columns, their masks, words, angles.
  std::vector<std::string> input_names() const;
  /// The number of inputs and targets where the options alone decide it, else {0, 0}.
  std::pair<std::int64_t, std::int64_t> widths() const;
};

/// The name of an input that is read at another row than that of its step: "temp[+1]".
std::string name_of_input(const std::string& column, std::int64_t shift);
inline constexpr const char* kNothing = "nothing";  ///< the name of the input of a model that reads none
/// The names of derived inputs: whether a column has a number, whether it has a certain word, and the
/// sine or cosine of a calendar input.
std::string name_of_mask(const std::string& column);
std::string name_of_word(const std::string& column, const std::string& word);
std::string name_of_angle(const std::string& calendar, bool is_sine);

/// Reads the options and notes errors in the reader; does not call finish.
SeriesOptions read_series_options(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
