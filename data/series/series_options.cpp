#include "lagtape/data/series/series_options.h"

#include <algorithm>
#include <set>

#include "lagtape/core/json/options.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/data/series/column_set.h"
#include "lagtape/data/time/calendar.h"

namespace lagtape {

namespace {

constexpr double kMostSteps = 1e8;

// ---- Columns: a list of names and numbers, or null -----------------------------------------------------------

void read_columns(JsonReader& reader, const Option& option, Json& columns) {
  const std::string key(option.key);
  columns = reader.raw(key);
  if (columns.is_null()) return;
  bool fits = columns.is_array() && !columns.empty();
  std::set<std::string> names;
  std::set<std::uint64_t> numbers;
  for (std::size_t i = 0; fits && i < columns.size(); ++i) {
    const Json& column = columns[i];
    fits = column.is_string() || column.is_number_unsigned();
    if (fits && !(column.is_string() ? names.insert(column.get<std::string>()).second
                                     : numbers.insert(column.get<std::uint64_t>()).second)) {
      reader.error(key, text_of("names the column ", column.dump(), " twice."));
      columns = {};
    }
  }
  if (fits) return;
  reader.error(key,
               text_of("expected a list of columns, names or numbers from 0. Got ", columns.dump(), "."));
  columns = {};
}

Json columns_json(const Option&, const Json& columns) { return columns; }
Json columns_schema(const Option&) {
  const Json column = either_schema({Json{{"type", "string"}}, integer_schema(at_least(0))});
  return either_schema({list_schema(column, 1), Json{{"type", "null"}}});
}

constexpr OptionKindOf<Json> kColumns = option_kind<Json, read_columns, columns_json, columns_schema>();

/// The list of past columns under its two names.
void read_input(JsonReader& reader, const Option& option, SeriesOptions& options) {
  read_columns(reader, option, options.past);
  options.says_input = !options.past.is_null();
}
void read_past(JsonReader& reader, const Option& option, SeriesOptions& options) {
  Json columns;
  read_columns(reader, option, columns);
  if (columns.is_null()) return;
  if (options.says_input)
    return reader.error("past", R"(is another name of "input". Expected one of the two.)");
  options.past = std::move(columns);
}
Json input_json(const Option&, const SeriesOptions& options) {
  return options.says_input ? options.past : Json();
}
Json past_json(const Option&, const SeriesOptions& options) {
  return options.says_input ? Json() : options.past;
}
Json input_schema(const Option& option) { return columns_schema(option); }

constexpr OptionKindOf<SeriesOptions> kInput =
    option_kind<SeriesOptions, read_input, input_json, input_schema>();
constexpr OptionKindOf<SeriesOptions> kPast =
    option_kind<SeriesOptions, read_past, past_json, input_schema>();

// ---- A bool that something else may decide -------------------------------------------------------------------

using MaybeBool = std::optional<bool>;

void read_maybe(JsonReader& reader, const Option& option, MaybeBool& value) {
  const std::string key(option.key);
  const Json& given = reader.raw(key);
  if (given.is_boolean()) value = given.get<bool>();
  if (!given.is_null() && !given.is_boolean())
    reader.error(key, text_of("expected true or false. Got ", given.dump(), "."));
}
Json maybe_json(const Option&, const MaybeBool& value) { return value ? Json(*value) : Json(); }
Json maybe_schema(const Option&) {
  return either_schema({Json{{"type", "boolean"}}, Json{{"type", "null"}}});
}

constexpr OptionKindOf<MaybeBool> kMaybe = option_kind<MaybeBool, read_maybe, maybe_json, maybe_schema>();

using MaybeText = std::optional<std::string>;

void read_maybe_text(JsonReader& reader, const Option& option, MaybeText& value) {
  const std::string key(option.key);
  const Json& given = reader.raw(key);
  if (given.is_string()) value = given.get<std::string>();
  if (!given.is_string() && !given.is_null())
    reader.error(key, text_of("expected the name of a column. Got ", given.dump(), "."));
}
Json maybe_text_json(const Option&, const MaybeText& value) { return value ? Json(*value) : Json(); }
Json maybe_text_schema(const Option&) {
  return either_schema({Json{{"type", "string"}}, Json{{"type", "null"}}});
}

constexpr OptionKindOf<MaybeText> kMaybeText =
    option_kind<MaybeText, read_maybe_text, maybe_text_json, maybe_text_schema>();

/// The texts of a list without repetition; notes an error for anything else.
std::vector<std::string> texts_of(const Json& list, JsonReader& reader, const std::string& key,
                                  const std::string& what) {
  std::vector<std::string> texts;
  std::set<std::string> known;
  bool fits = list.is_array();
  for (std::size_t i = 0; fits && i < list.size(); ++i) {
    fits = list[i].is_string() && known.insert(list[i].get<std::string>()).second;
    if (fits) texts.push_back(list[i].get<std::string>());
  }
  if (!fits) reader.error(key, text_of("expected a list of ", what, ", each once. Got ", list.dump(), "."));
  return texts;
}

// ---- Inputs from the time -----------------------------------------------------------------------------------

using Texts = std::vector<std::string>;

void read_calendar(JsonReader& reader, const Option& option, Texts& calendar) {
  const std::string key(option.key);
  const Json& given = reader.raw(key);
  if (given.is_null()) return;
  Texts known;
  for (const CalendarInput& input : kCalendar) known.emplace_back(input.name);
  const Texts names = texts_of(given, reader, key, "names");
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      reader.error(key, unknown_name("calendar input", name, known));
  for (const std::string& name : known)
    if (std::ranges::find(names, name) != names.end()) calendar.push_back(name);
}

Json texts_json(const Option&, const Texts& texts) { return texts; }
Json calendar_schema(const Option&) {
  Json names = Json::array();
  for (const CalendarInput& input : kCalendar) names.push_back(input.name);
  return either_schema({list_schema({{"enum", names}}), Json{{"type", "null"}}});
}

constexpr OptionKindOf<Texts> kCalendarNames =
    option_kind<Texts, read_calendar, texts_json, calendar_schema>();

// ---- Columns of words ---------------------------------------------------------------------------------------

using Categories = std::vector<Category>;

void read_categories(JsonReader& reader, const Option& option, Categories& categories) {
  const std::string key(option.key);
  const Json& given = reader.raw(key);
  if (given.is_null()) return;
  if (!given.is_object())
    return reader.error(key, text_of("expected an object of lists of words. Got ", given.dump(), "."));
  for (const auto& [column, list] : given.items())
    categories.push_back({column, texts_of(list, reader, text_of(key, "/", column), "words")});
}

Json categories_json(const Option&, const Categories& categories) {
  Json object = Json::object();
  for (const Category& category : categories) object[category.column] = category.values;
  return object;
}
Json categories_schema(const Option&) {
  return either_schema({object_schema_of(list_schema({{"type", "string"}})), Json{{"type", "null"}}});
}

constexpr OptionKindOf<Categories> kCategories =
    option_kind<Categories, read_categories, categories_json, categories_schema>();

// ---- The stride: a number, or "auto" ------------------------------------------------------------------------

void read_stride(JsonReader& reader, const Option& option, std::int64_t& stride) {
  const Json& given = reader.raw(std::string(option.key));
  if (given.is_null() || given == "auto") return;
  if (given.is_number_unsigned() && given.get<std::int64_t>() >= 1 && given.get<double>() <= kMostSteps) {
    stride = given.get<std::int64_t>();
  } else {
    reader.error("stride", text_of("expected \"auto\" or an integer of at least 1. Got ", given.dump(), "."));
  }
}

Json stride_json(const Option&, const std::int64_t& stride) {
  return stride == 0 ? Json("auto") : Json(stride);
}
Json stride_schema(const Option&) {
  return either_schema(
      {integer_schema(between(1, kMostSteps)), Json{{"const", "auto"}}, Json{{"type", "null"}}});
}

constexpr OptionKindOf<std::int64_t> kStride =
    option_kind<std::int64_t, read_stride, stride_json, stride_schema>();

// ---- Files: one, or a list ----------------------------------------------------------------------------------

void read_paths(JsonReader& reader, const Option& option, SeriesOptions& options) {
  const std::string key(option.key);
  const Json& given = reader.raw(key);
  options.lists_paths = given.is_array();
  if (given.is_string()) options.paths = {given.get<std::string>()};
  if (given.is_array()) options.paths = texts_of(given, reader, key, "files");
  if (given.is_null() && reader.is_object())
    reader.error(key, Problem{.rule = Rule::missing, .expected = "a file, or a list of files"});
  if (!given.is_null() && !given.is_string() && !given.is_array())
    reader.error(key, text_of("expected a file, or a list of files. Got ", given.dump(), "."));
  if (given.is_array() && given.empty()) reader.error(key, "expected at least one file.");
}

Json paths_json(const Option&, const SeriesOptions& options) {
  const Texts& paths = options.paths;
  return paths.size() == 1 && !options.lists_paths ? Json(paths[0]) : Json(paths);
}
Json paths_schema(const Option&) {
  const Json file = {{"type", "string"}};
  return either_schema({{{"type", "string"}, {"minLength", 1}}, list_schema(file, 1)});
}

constexpr OptionKindOf<SeriesOptions> kPaths =
    option_kind<SeriesOptions, read_paths, paths_json, paths_schema>();

// ---- All ----------------------------------------------------------------------------------------------------

constexpr Option kSeriesRows[] = {
    whole<SeriesOptions>(
        "path", kPaths,
        "a .csv, .npy or .npz file, relative to the experiment file, or a list of files, each a recording of "
        "its own; with a * in its name, all such files")
        .needed(),
    option<&SeriesOptions::array>("array", "name of the array in an .npz file; \"\": its only one"),
    rows_of<&SeriesOptions::table>(kTableOptions),
    option<&SeriesOptions::time>(
        "time", kMaybeText,
        "column of the times, ISO dates or seconds since 1970, by which rows are sorted and gaps are found; "
        "\"\": the first column, if that has dates and no name; null: rows are equally spaced"),
    whole<SeriesOptions>(
        "input", kInput,
        "input columns, names or numbers from 0, those of targets too; null: all but the time, unless the "
        "keys below name inputs"),
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
                                        "the past of the targets is an input; null: as \"input\" says, "
                                        "without it true unless `horizon` is 0"),
    option<&SeriesOptions::calendar>("calendar", kCalendarNames,
                                     "inputs from the time of the row that is predicted, each as sine and "
                                     "cosine: a list of \"hour\" (of the "
                                     "day), \"weekday\" and \"year\" (day of the year)"),
    option<&SeriesOptions::categories>(
        "categories", kCategories,
        R"(input columns of words, with the words: {"sky": ["clear", "rain"]} makes an input of each word, )"
        "1 where it stands and else 0"),
    option<&SeriesOptions::missing>(
        "missing",
        Choices{{"error", Missing::error},
                {"interpolate", Missing::interpolate},
                {"hold", Missing::hold},
                {"mask", Missing::mask}},
        "treatment of cells without a number: an error, a straight line to the number after them, which "
        "tells of later rows, or the last number before them; \"mask\" is the last too, with an input more "
        "for "
        "each column that is 1 where there was a number. Missing targets are left out of loss and metrics"),
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
    rows_of<&SeriesOptions::normalize>(kNormalizeOptions),
    option<&SeriesOptions::train>(
        "train", {.min = 0, .max = 1, .above_min = true},
        "share of the training set: the first rows (or recordings, if there are several)"),
    option<&SeriesOptions::valid>("valid", between(0, 1), "share of the validation set: the next rows"),
    option<&SeriesOptions::test>("test", between(0, 1), "share of the test set: the next rows"),
};

/// Notes an error for each column that two keys name.
void check_roles(const SeriesOptions& options, JsonReader& reader) {
  struct Role {
    const char* key;
    Json columns;
  };
  const Role roles[] = {{"time", options.time ? Json::array({*options.time}) : Json()},
                        {"target", options.target},
                        {options.says_input ? "input" : "past", options.past},
                        {"future", options.future},
                        {"static", options.fixed}};
  for (const Role& role : roles) {
    if (role.columns.is_null()) continue;
    for (const Role* other = roles; other != &role; ++other) {
      if (options.says_input && &role == &roles[2]) continue;  // which may name targets
      const ColumnSet others(other->columns);
      for (const Json& column : role.columns)
        if (others.has(column))
          reader.error(role.key, text_of("names the column ", column.dump(), ", which \"", other->key,
                                         "\" names too. A column has one role",
                                         other == &roles[1] && &role == &roles[2]
                                             ? "; a target's own past is an input by \"past_target\": true."
                                             : "."));
    }
  }
}

void check_series(const SeriesOptions& options, JsonReader& reader) {
  if (!options.calendar.empty() && !options.time)
    reader.error("calendar", "needs dates. Name their column with \"time\".");
  check_roles(options, reader);
  if (options.target.is_null() && !options.says_input && !options.reads_all())
    reader.error("target", "expected the columns to predict.");
  const ColumnSet past(options.past), future(options.future), fixed(options.fixed);
  for (const Category& category : options.categories) {
    const Json column(category.column);
    if (!past.has(column) && !future.has(column) && !fixed.has(column))
      reader.error("categories/" + category.column, "is not in \"input\". Name it there too.");
  }
  if (!options.reads_all() && options.input_names().empty()) reader.error("past_target", "leaves no input.");
  if (options.train + options.valid + options.test > 1 + 1e-9)
    reader.error("test", "the shares of train, valid and test add up to more than 1.");
}

}  // namespace

SeriesOptions read_series_options(JsonReader& reader, const TaskHints& hints) {
  SeriesOptions options;
  options.every_step = hints.every_step;
  options.batch = hints.batch;
  options.normalize = {.input = true, .target = hints.real_loss, .real_loss = hints.real_loss};
  read_options(reader, checked<check_series>(kSeriesRows), options);
  return options;
}

}  // namespace lagtape
