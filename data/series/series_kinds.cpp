#include "lagtape/data/series/series_kinds.h"

#include <algorithm>
#include <set>

#include "lagtape/core/json/schema.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/time/calendar.h"
#include "lagtape/data/time/time_format.h"

namespace lagtape {

namespace {

/// Reads a value unless it is null, which means the default.
template <class T, void (*read)(JsonReader&, const std::string& key, const Json& given, T&)>
void read_given(JsonReader& reader, const Option& option, T& value) {
  const std::string key(option.key);
  if (const Json& given = reader.raw(key); !given.is_null()) read(reader, key, given, value);
}

// ---- Columns: a list of names and numbers, or null -----------------------------------------------------------

constexpr double kMostColumns = 1e9;

void read_columns(JsonReader& reader, const Option& option, Json& columns) {
  const std::string key(option.key);
  columns = reader.raw(key);
  if (columns.is_null()) return;
  if (columns.is_string() || columns.is_number_unsigned()) columns = Json::array({columns});
  bool fits = columns.is_array() && !columns.empty();
  std::set<std::string> names;
  std::set<std::uint64_t> numbers;
  for (std::size_t i = 0; fits && i < columns.size(); ++i) {
    const Json& column = columns[i];
    fits = column.is_string() || (column.is_number_unsigned() && column.get<double>() <= kMostColumns);
    if (fits && !(column.is_string() ? names.insert(column.get<std::string>()).second
                                     : numbers.insert(column.get<std::uint64_t>()).second)) {
      reader.error(key, text_of("names the column ", column.dump(), " twice."));
      columns = {};
    }
  }
  if (fits) return;
  reader.error(key, text_of("expected a column or a list of columns, names or numbers from 0. Got ",
                            reader.raw(key).dump(), "."));
  columns = {};
}

Json columns_json(const Option&, const Json& columns) { return columns; }
Json columns_schema(const Option&) {
  const Json column = either_schema({Json{{"type", "string"}}, integer_schema(at_least(0))});
  return either_schema({list_schema(column, 1), column, Json{{"type", "null"}}});
}

}  // namespace

constinit const OptionKindOf<Json> kColumns = option_kind<Json, read_columns, columns_json, columns_schema>();

namespace {

/// The list of past columns under either of its names.
void read_input(JsonReader& reader, const Option& option, SeriesOptions& options) {
  if (const Json& given = reader.raw(std::string(option.key)); given.is_array() && given.empty())
    options.past = given;  // nothing but time
  else
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
Json past_schema(const Option& option) { return columns_schema(option); }
Json input_schema(const Option& option) {
  return either_schema({Json{{"type", "array"}, {"maxItems", 0}}, columns_schema(option)});
}

}  // namespace

constinit const OptionKindOf<SeriesOptions> kInput =
    option_kind<SeriesOptions, read_input, input_json, input_schema>();

constinit const OptionKindOf<SeriesOptions> kPast =
    option_kind<SeriesOptions, read_past, past_json, past_schema>();

namespace {

// ---- A bool that may be left to something else
// ---------------------------------------------------------------

using MaybeBool = std::optional<bool>;

void read_maybe(JsonReader& reader, const std::string& key, const Json& given, MaybeBool& value) {
  if (!given.is_boolean())
    return reader.error(key, text_of("expected true or false. Got ", given.dump(), "."));
  value = given.get<bool>();
}
Json maybe_json(const Option&, const MaybeBool& value) { return value ? Json(*value) : Json(); }
Json maybe_schema(const Option&) {
  return either_schema({Json{{"type", "boolean"}}, Json{{"type", "null"}}});
}

}  // namespace

constinit const OptionKindOf<MaybeBool> kMaybe =
    option_kind<MaybeBool, read_given<MaybeBool, read_maybe>, maybe_json, maybe_schema>();

namespace {

/// The texts in a list, without duplicates; notes an error for anything else.
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

void read_calendar(JsonReader& reader, const std::string& key, const Json& given, Texts& calendar) {
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

}  // namespace

constinit const OptionKindOf<Texts> kCalendarNames =
    option_kind<Texts, read_given<Texts, read_calendar>, texts_json, calendar_schema>();

namespace {

// ---- Columns of words ---------------------------------------------------------------------------------------

using Categories = std::vector<Category>;

void read_categories(JsonReader& reader, const std::string& key, const Json& given, Categories& categories) {
  if (!given.is_object())
    return reader.error(key, text_of("expected an object of lists of words. Got ", given.dump(), "."));
  for (const auto& [column, list] : given.items())
    categories.push_back({column, texts_of(list, reader, key, text_of("words of ", quote(column)))});
}

Json categories_json(const Option&, const Categories& categories) {
  Json object = Json::object();
  for (const Category& category : categories) object[category.column] = category.values;
  return object;
}
Json categories_schema(const Option&) {
  return either_schema({object_schema_of(list_schema({{"type", "string"}})), Json{{"type", "null"}}});
}

}  // namespace

constinit const OptionKindOf<Categories> kCategories =
    option_kind<Categories, read_given<Categories, read_categories>, categories_json, categories_schema>();

namespace {

// ---- Names of columns: one, or a list -----------------------------------------------------------------------

void read_names(JsonReader& reader, const std::string& key, const Json& given, Texts& columns) {
  if (given.is_string()) columns = {given.get<std::string>()};
  if (given.is_array()) columns = texts_of(given, reader, key, "columns");
  if (columns.empty())
    reader.error(key, text_of("expected the name of a column, or a list. Got ", given.dump(), "."));
}

void read_time_columns(JsonReader& reader, const std::string& key, const Json& given, Texts& columns) {
  if (given.is_string()) columns = {given.get<std::string>()};
  if (given.is_array()) columns = texts_of(given, reader, key, "columns");
  constexpr std::size_t kMostParts = 6;
  if (columns.empty() || columns.size() > kMostParts)
    reader.error(
        key,
        text_of("expected a column of times, or a list of the columns of dates and of times of day, or of ",
                "year, month, day, hour, minute and second. Got ", given.dump(), "."));
}

Json names_json(const Option&, const Texts& columns) {
  if (columns.empty()) return {};
  return columns.size() == 1 ? Json(columns.front()) : Json(columns);
}
Json names_schema(const Option&) {
  const Json column = {{"type", "string"}};
  return either_schema({column, list_schema(column, 1), Json{{"type", "null"}}});
}

}  // namespace

constinit const OptionKindOf<Texts> kTimeColumns =
    option_kind<Texts, read_given<Texts, read_time_columns>, names_json, names_schema>();

constinit const OptionKindOf<Texts> kNames =
    option_kind<Texts, read_given<Texts, read_names>, names_json, names_schema>();

namespace {

// ---- Dates --------------------------------------------------------------------------------------------------

using Days = std::vector<std::int64_t>;

void read_days(JsonReader& reader, const std::string& key, const Json& given, Days& days) {
  for (const std::string& text : texts_of(given, reader, key, "dates")) {
    const auto date = read_time(text);
    if (date) days.push_back(floor_div(date->time, kOneDay));
    if (!date) reader.error(key, text_of("expected dates such as 2024-12-25. Got ", Json(text).dump(), "."));
  }
}

Json days_json(const Option&, const Days& days) {
  Json dates = Json::array();
  for (const std::int64_t day : days) dates.push_back(TimeFormat("%Y-%m-%d").write(day * kOneDay));
  return dates;
}
Json days_schema(const Option&) {
  return either_schema({list_schema({{"type", "string"}}), Json{{"type", "null"}}});
}

}  // namespace

constinit const OptionKindOf<Days> kDays =
    option_kind<Days, read_given<Days, read_days>, days_json, days_schema>();

namespace {

// ---- The stride: a number, or "auto" ------------------------------------------------------------------------

void read_stride(JsonReader& reader, const std::string& key, const Json& given, std::int64_t& stride) {
  if (given == "auto") return;
  if (given.is_number_integer() && given.get<double>() >= 1 && given.get<double>() <= kMostSteps) {
    stride = given.get<std::int64_t>();
  } else {
    reader.error(key, text_of("expected \"auto\" or an integer of at least 1. Got ", given.dump(), "."));
  }
}

Json stride_json(const Option&, const std::int64_t& stride) {
  return stride == 0 ? Json("auto") : Json(stride);
}
Json stride_schema(const Option&) {
  return either_schema(
      {integer_schema(between(1, kMostSteps)), Json{{"const", "auto"}}, Json{{"type", "null"}}});
}

}  // namespace

constinit const OptionKindOf<std::int64_t> kStride =
    option_kind<std::int64_t, read_given<std::int64_t, read_stride>, stride_json, stride_schema>();

namespace {

// ---- What scales numbers: a bool, or a name ------------------------------------------------------------------

void read_scale_by(JsonReader& reader, const std::string& key, const Json& given, ScaleBy& by) {
  if (given.is_boolean()) {
    by = given.get<bool>() ? ScaleBy::best : ScaleBy::nothing;
  } else if (given == "all" || given == "series") {
    by = given == "all" ? ScaleBy::all : ScaleBy::series;
  } else {
    reader.error(key, text_of(R"(expected true, false, "all" or "series". Got )", given.dump(), "."));
  }
}

Json scale_by_json(const Option&, const ScaleBy& by) {
  if (by == ScaleBy::all) return "all";
  return by == ScaleBy::series ? Json("series") : Json(by == ScaleBy::best);
}
Json scale_by_schema(const Option&) {
  return either_schema(
      {Json{{"type", "boolean"}}, Json{{"enum", {"all", "series"}}}, Json{{"type", "null"}}});
}

}  // namespace

constinit const OptionKindOf<ScaleBy> kScaleBy =
    option_kind<ScaleBy, read_given<ScaleBy, read_scale_by>, scale_by_json, scale_by_schema>();

namespace {

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

}  // namespace

constinit const OptionKindOf<SeriesOptions> kPaths =
    option_kind<SeriesOptions, read_paths, paths_json, paths_schema>();

}  // namespace lagtape
