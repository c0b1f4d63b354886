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
/// number before them, or the same with an additional input that says whether a number was there.
enum class Missing : std::uint8_t { error, interpolate, hold, mask };

/// What to do with rows that have the same time: report an error, keep the first or the last, or average their
/// numbers.
enum class Duplicates : std::uint8_t { error, first, last, mean };

/// How several series are split into training, validation and test set: by whole series, or each in time.
enum class SplitBy : std::uint8_t { series, time };

/// The simple model whose residual the network learns: none, the target one season before, or a linear
/// regression.
enum class Residual : std::uint8_t { none, seasonal, linear };

/// The rows that determine the scaling of a column: none, the training rows of all series or of each series, or
/// the better of the last two.
enum class ScaleBy : std::uint8_t { nothing, all, series, best };

/// How often training windows are drawn: all equally often, or equally often for each series.
enum class WeightBy : std::uint8_t { row, series };

/// A column of words, each of which becomes an input that is 1 in the rows with that word and 0 elsewhere.
struct Category {
  std::string column;
  std::vector<std::string> values;
};

/// A column as an experiment refers to it, and its role in the model.
struct InputColumn {
  Json column;  ///< its name, or its number
  ColumnRole role = ColumnRole::past;
};

/// How a user's recordings are read and cut into sequences: the options of the task "series".
struct SeriesOptions {
  std::vector<std::string>
      paths;  ///< files, each with one or more recordings; a * in the last part matches several files
  bool lists_paths = false;  ///< `paths` is written as a list even if there is only one
  std::string array;
  TableOptions table;  ///< how .csv files are written
  /// The time column, or a date column and a time-of-day column; none: there are no times.
  std::vector<std::string> time;
  std::vector<std::string> series;  ///< the columns that name a row's series; none: each file is one
  std::string time_format;          ///< as in TimeFormat; empty: inferred from the rows
  DateOrder date_order = DateOrder::automatic;
  std::string timezone;                ///< the clock for times without an offset; empty: UTC
  std::string frequency = "auto";      ///< as in Frequency, "auto": inferred from the rows, or "any"
  std::vector<std::int64_t> holidays;  ///< days since 1970 that are not business days
  Duplicates duplicates = Duplicates::error;
  // Columns by role in the model: lists of names and numbers, or null.
  Json past, target, future, fixed;
  bool says_input = false;  ///< `past` is written as "input", which may include targets
  std::optional<bool> past_target =
      {};  ///< targets are inputs too; empty: those that "input" includes, or all if there is no "input"
  std::vector<Category> categories;   ///< among the input columns
  std::vector<std::string> calendar;  ///< inputs derived from the time, in the order of kCalendar
  Missing missing = Missing::error;
  bool across_gaps = false;
  std::int64_t window = 1, horizon = 1;
  std::int64_t stride = 0;  ///< 0: chosen from the number of rows
  bool every_step = false;
  ScaleBy normalize = ScaleBy::best, normalize_target = ScaleBy::best;
  bool real_loss = true;  ///< as in TaskHints; scaled targets are an error with a loss for classes
  bool counts = false;    ///< as in TaskHints
  WeightBy weight = WeightBy::row;
  SplitBy split = SplitBy::time;
  double train = 0.7, valid = 0.15, test = 0.15;
  Residual residual = Residual::none;
  std::int64_t season = 0;  ///< steps in a season; 0: from the frequency
  std::int64_t batch = 1;   ///< train.batch, on which the default stride depends

  /// The files, as they appear in messages.
  std::string where() const;
  /// Whether no key selects columns, so that all are read.
  bool reads_all() const { return past.is_null() && future.is_null() && fixed.is_null(); }
  /// Whether "input" is []: a model that depends only on time reads one input, which is always 0.
  bool reads_nothing() const;
  /// Whether an input column contains words.
  bool is_category(const Json& column) const;
  /// The input columns in order; none if all are read.
  std::vector<InputColumn> inputs() const;
  /// The row offsets at which a step reads a column. This is the only definition of input alignment; training,
  /// forecasts and streams all use it. The step predicts the row `horizon` rows later.
  std::vector<std::int64_t> shifts_of(ColumnRole role) const;
  /// The inputs in order, if the options alone decide them, else none: columns, their masks, words, angles.
  std::vector<std::string> input_names() const;
  /// The number of inputs and targets if the options alone decide it, else {0, 0}.
  std::pair<std::int64_t, std::int64_t> widths() const;
};

/// The name of an input that is read at a row other than the step's: "temp[+1]".
std::string name_of_input(const std::string& column, std::int64_t shift);
inline constexpr const char* kNothing = "nothing";  ///< the name of the input of a model that has none
/// The names of derived inputs: whether a column has a number, whether it has a certain word, and the sine or
/// cosine of a calendar input.
std::string name_of_mask(const std::string& column);
std::string name_of_word(const std::string& column, const std::string& word);
std::string name_of_angle(const std::string& calendar, bool is_sine);

/// Reads the options and notes errors in the reader; the caller calls finish.
SeriesOptions read_series_options(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
