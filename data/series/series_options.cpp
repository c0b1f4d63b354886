#include "lagtape/data/series/series_options.h"

#include <algorithm>

#include "lagtape/core/json/options.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/series/column_set.h"
#include "lagtape/data/series/series_kinds.h"
#include "lagtape/data/time/frequency.h"
#include "lagtape/data/time/time_format.h"
#include "lagtape/data/time/time_zone.h"

namespace lagtape {

namespace {

constexpr Option kSeriesRows[] = {
    whole<SeriesOptions>("path", kPaths,
                         "a .csv, .npy or .npz file, relative to the experiment file, or a list of files, "
                         "each a separate recording; with a * in its name, all such files")
        .needed(),
    option<&SeriesOptions::array>("array", "name of the array in an .npz file; \"\": its only one"),
    rows_of<&SeriesOptions::table>(kTableOptions),
    option<&SeriesOptions::time>("time", kTimeColumns,
                                 "column of the times, or a list of the columns of dates and of times of "
                                 "day, or of year, month, day, hour, "
                                 "minute and second, by which rows are sorted and gaps are found; \"\": the "
                                 "column without a name; null: rows are equally spaced"),
    option<&SeriesOptions::time_format>(
        "time_format",
        "format of the times in strptime's letters, such as \"%d.%m.%Y %H:%M\", or what plain numbers are: "
        "\"seconds\", \"milliseconds\", \"microseconds\", \"nanoseconds\", \"minutes\", \"hours\" or "
        "\"days\" since "
        "1970, days of a \"spreadsheet\", \"julian_days\", \"modified_julian_days\", \"matlab_days\", "
        "\"hours_since_1900\"; \"\": found from all "
        "rows"),
    option<&SeriesOptions::date_order>("date_order", kDateOrders, kAboutDateOrder),
    option<&SeriesOptions::timezone>(
        "timezone", "clock of times without an offset, such as \"Europe/Berlin\"; \"\": UTC"),
    option<&SeriesOptions::frequency>(
        "frequency",
        "distance of rows: \"15min\", \"1h\", \"1D\", \"business\", \"1W\", \"month_start\", "
        "\"month_end\", \"quarter\", \"year\", ...; \"auto\": found from the rows; \"any\": any frequency, "
        "also uneven rows"),
    option<&SeriesOptions::holidays>("holidays", kDays, "dates that are not business days"),
    option<&SeriesOptions::series>("series", kNames,
                                   "column, or list of columns, that names the series of a row, in any order "
                                   "of rows; null: each file is one series with the file's name"),
    option<&SeriesOptions::duplicates>("duplicates",
                                       Choices{{"error", Duplicates::error},
                                               {"first", Duplicates::first},
                                               {"last", Duplicates::last},
                                               {"mean", Duplicates::mean}},
                                       "treatment of rows with the same time"),
    whole<SeriesOptions>(
        "input", kInput,
        "input columns, names or numbers from 0, those of targets too; null: all but the time, unless the "
        "keys below name inputs; []: none, for equations of time alone"),
    option<&SeriesOptions::target>("target", kColumns, "columns to predict; null: the input columns"),
    whole<SeriesOptions>(
        "past", kPast,
        "inputs that are known up to the row at which a forecast begins, beside the targets' own past"),
    option<&SeriesOptions::future>("future", kColumns,
                                   "inputs that are known ahead, such as weather forecasts, prices and "
                                   "holidays: read at the row that is "
                                   "predicted, and `horizon` rows before it"),
    option<&SeriesOptions::fixed>("static", kColumns, "inputs that have one value in all rows of a series"),
    option<&SeriesOptions::past_target>("past_target", kMaybe,
                                        "the past of the targets is an input; null: decided by \"input\", "
                                        "without it true unless `horizon` is 0"),
    option<&SeriesOptions::calendar>("calendar", kCalendarNames,
                                     "inputs from the time of the row that is predicted, each as sine and "
                                     "cosine: a list of \"hour\" (of the "
                                     "day), \"weekday\" and \"year\" (day of the year)"),
    option<&SeriesOptions::categories>(
        "categories", kCategories,
        R"(input columns of words, with the words: {"sky": ["clear", "rain"]} makes an input of each word, )"
        "1 in the rows with it and else 0"),
    option<&SeriesOptions::missing>(
        "missing", kMissingNames,
        "treatment of cells without a number: an error, a straight line to the number after them (which a "
        "forecast does not know), or the last number before them; \"mask\" also takes the last number, and "
        "adds an input for each column that is 1 where there was a number. Missing targets are left out of "
        "loss and metrics"),
    option<&SeriesOptions::across_gaps>("across_gaps",
                                        "windows may reach over times at which rows are missing"),
    required<&SeriesOptions::window>("window", between(1, kMostSteps), "steps of a sequence"),
    option<&SeriesOptions::horizon>("horizon", between(0, kMostSteps), "steps from an input to its target"),
    option<&SeriesOptions::every_step>(
        "every_step",
        "a target at every step instead of only after the last; by default if the read-out is at every step"),
    option<&SeriesOptions::stride>(
        "stride", kStride,
        "steps from a window to the next. \"auto\": `window` with targets at every step, but in training "
        "less where an epoch would have fewer than 10 updates; 1 with a target after the last"),
    option<&SeriesOptions::residual>(
        "residual",
        Choices{{"none", Residual::none}, {"seasonal", Residual::seasonal}, {"linear", Residual::linear}},
        "the simple model whose residual the network learns: none, the target a season before, or a ridge "
        "regression of the inputs and their past, which is fitted first and is part of the model"),
    option<&SeriesOptions::season>("season", between(0, kMostSteps),
                                   "rows after which the numbers repeat, for \"residual\", naive forecasts "
                                   "and mase; 0: a day, a week or a year, as the "
                                   "frequency says"),
    option<&SeriesOptions::normalize>(
        "normalize", kScaleBy,
        "scale the inputs by mean and standard deviation of the training rows: \"series\": those of each "
        "series (for a new one its first rows), \"all\": those of all; true: \"series\" where several are "
        "split in time, else \"all\""),
    option<&SeriesOptions::normalize_target>(
        "normalize_target", kScaleBy,
        "scale real targets likewise; metrics and predictions keep their units"),
    option<&SeriesOptions::weight>("weight", Choices{{"row", WeightBy::row}, {"series", WeightBy::series}},
                                   "weight of the series in training: each window once an epoch, or windows "
                                   "of each series equally often"),
    option<&SeriesOptions::split>(
        "split", Choices{{"time", SplitBy::time}, {"series", SplitBy::series}},
        "division of several series: the first rows of each train, the next validate and the last test, or "
        "each whole series is in one set, which shows how well new ones are predicted"),
    option<&SeriesOptions::train>(
        "train", {.min = 0, .max = 1, .above_min = true},
        "share of the training set: the first rows (or recordings, if there are several)"),
    option<&SeriesOptions::valid>("valid", between(0, 1), "share of the validation set: the next rows"),
    option<&SeriesOptions::test>("test", between(0, 1), "share of the test set: the next rows"),
};

/// Notes an error for each column that occurs under two keys.
void check_roles(const SeriesOptions& options, JsonReader& reader) {
  struct Role {
    const char* key;
    Json columns;
  };
  const Role roles[] = {{"time", options.time},     {"target", options.target},
                        {"series", options.series}, {options.says_input ? "input" : "past", options.past},
                        {"future", options.future}, {"static", options.fixed}};
  for (const Role& role : roles) {
    if (role.columns.is_null()) continue;
    for (const Role* other = roles; other != &role; ++other) {
      // "input" may name targets.
      if (options.says_input && other == &roles[1] && &role == &roles[3]) continue;
      const ColumnSet others(other->columns);
      for (const Json& column : role.columns)
        if (others.has(column))
          reader.error(role.key, text_of("names the column ", column.dump(), ", which \"", other->key,
                                         "\" names too. A column has one role",
                                         other == &roles[1] && &role == &roles[3]
                                             ? "; a target's own past is an input by \"past_target\": true."
                                             : "."));
    }
  }
}

/// Notes the error for a text that data/time cannot read.
template <class Read>
void check_text(const std::string& key, const std::string& text, JsonReader& reader, const Read& read) {
  try {
    if (!text.empty()) read(text);
  } catch (const InputError& error) {
    for (const Problem& problem : error.problems()) reader.error(key, problem);
  }
}

void check_times(const SeriesOptions& options, JsonReader& reader) {
  check_time_format(options.time_format, reader);
  check_text("timezone", options.timezone, reader, [](const std::string& text) { TimeZone::named(text); });
  const bool has_frequency = options.frequency != "auto" && options.frequency != "any";
  if (has_frequency)
    check_text("frequency", options.frequency, reader,
               [](const std::string& text) { Frequency::parse(text); });
  if (options.frequency.empty()) reader.error("frequency", "expected a frequency, \"auto\" or \"any\".");
  for (const auto& [key, is_given] : {std::pair("calendar", !options.calendar.empty()),
                                      {"timezone", !options.timezone.empty()},
                                      {"time_format", !options.time_format.empty()},
                                      {"frequency", has_frequency},
                                      {"holidays", !options.holidays.empty()}})
    if (is_given && options.time.empty()) reader.error(key, "needs dates. Name their column with \"time\".");
}

void check_series(const SeriesOptions& options, JsonReader& reader) {
  check_times(options, reader);
  check_roles(options, reader);
  if (options.target.is_null() && !options.says_input && !options.reads_all())
    reader.error("target", "expected the columns to predict.");
  const ColumnSet past(options.past), future(options.future), fixed(options.fixed);
  for (const Category& category : options.categories) {
    const Json column(category.column);
    if (!past.has(column) && !future.has(column) && !fixed.has(column))
      reader.error("categories", text_of("the column ", quote(category.column),
                                         " is not in \"input\". Name it there too."));
  }
  if (options.normalize_target != ScaleBy::nothing && !options.real_loss)
    reader.error("normalize_target", "needs the loss mse. Expected false with a loss for classes.");
  if (!options.reads_all() && options.input_names().empty()) reader.error("past_target", "leaves no input.");
  if (options.train + options.valid + options.test > 1 + 1e-9)
    reader.error("test", "the shares of train, valid and test add up to more than 1.");
}

}  // namespace

void check_time_format(const std::string& format, JsonReader& reader) {
  check_text("time_format", format, reader, [](const std::string& text) { TimeFormat{text}; });
}

SeriesOptions read_series_options(JsonReader& reader, const TaskHints& hints) {
  SeriesOptions options;
  options.every_step = hints.every_step;
  options.batch = hints.batch;
  options.real_loss = hints.real_loss;
  options.counts = hints.counts;
  if (!hints.real_loss) options.normalize_target = ScaleBy::nothing;
  read_options(reader, checked<check_series>(kSeriesRows), options);
  return options;
}

}  // namespace lagtape
